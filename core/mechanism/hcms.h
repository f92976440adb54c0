// SPDX-License-Identifier: Apache-2.0
// Hadamard Count Mean Sketch, the device's side (apple-2017 Algorithm 6).
//
// A device draws a row j of k and a column l of m, and sends both with one sign. The sign is the
// Hadamard entry (-1)^popcount(l & h_j(x)), flipped with probability
// threshold/2^64 >= 1/(e^epsilon + 1). The code never builds the matrix.
//
// Privacy: epsilon per record, replacement model. j and l are drawn independently of the item, and
// only one coin depends on it. The epsilon really drawn is below the stated one by less than (1 +
// 2^-40) (1/T + 1/(2^64 - T)): 5e-13 at epsilon 16, 3e-18 at 4.
// Columns: hash family poly1 over open strings, affine1 over a closed list (column.h).
// Draws, in order: below(k), below(m), the draws of shoal_column, bernoulli.
// Parameters: k 1 .. 2^20, m a power of two 2 .. 2^20, k m <= 2^28.
// Record: row (u32), 2 l + s (u32), s = 1 for a positive sign. Text: "j,l,s".
#ifndef SHOAL_HCMS_H
#define SHOAL_HCMS_H

#include "mechanism.h"

#define SHOAL_HCMS_K_MAX (1u << 20)
#define SHOAL_HCMS_M_MAX (1u << 20)

#endif
