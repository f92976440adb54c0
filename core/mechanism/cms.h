// SPDX-License-Identifier: Apache-2.0
// Count Mean Sketch, the device's side (apple-2017 Algorithm 2).
//
// A device draws a row j of k and hashes its item to a column h_j(x) of m. It sends the row with
// the m-bit one-hot vector of that column, in which every bit is flipped independently with
// probability threshold/2^64 >= 1/(e^(epsilon/2) + 1).
//
// Privacy: epsilon per record, replacement model. Two items change at most two bits of a row's
// vector, each with odds of (2^64 - T)/T <= e^(epsilon/2); rows are drawn independently of the
// item. The epsilon really drawn is below the stated one by less than 2 (1 + 2^-40) (1/T +
// 1/(2^64 - T)): 2e-18 at epsilon 1, 4e-16 at 16.
// Columns: hash family poly1 over open strings, affine1 over a closed list (column.h).
// Draws, in order: below(k), the draws of shoal_column, then one 64-lane coin for every 64 columns.
// Parameters: k 1 .. 2^20, m 2 .. 65536, k m <= 2^28. Record: row (u32), m bits. Text: "j,<hex>".
#ifndef SHOAL_CMS_H
#define SHOAL_CMS_H

#include "mechanism.h"

#define SHOAL_CMS_K_MAX (1u << 20)
#define SHOAL_CMS_M_MAX 65536u

#endif
