// SPDX-License-Identifier: Apache-2.0
// Local hashing, the device's side (Wang, Blocki, Li, Jha 2017, "OLH", with k shared rows in place
// of a hash a device).
//
// A device draws a row j of k and hashes its item to h_j(x) in [g]. It sends the row with the
// answer of generalized randomized response over g: the true one with probability 1 - T/2^64,
// otherwise one of the g - 1 others, uniformly. T = ceil(2^64 / (e^epsilon/(g - 1) + 1)).
//
// Privacy: epsilon per record, replacement model. j is drawn independently of the item. Given j,
// the true answer is (2^64 - T)(g - 1)/T <= e^epsilon times as likely as any other; the ratio falls
// short of e^epsilon by a relative (1 + 2^-40) (1/T + 1/(2^64 - T)) at most.
// Answers: hash family poly1 over open strings, affine1 over a closed list (column.h), where "none"
// makes y uniform.
// Timing: constant in the item and in the coin: the code always draws the lie, and a mask chooses.
// Draws, in order: below(k), the draws of shoal_column, bernoulli, below(g - 1).
// Parameters: k 1 .. 2^24, g a power of two 2 .. 2^20, k g <= 2^28. Part: m = g.
// Record: j g + y (u32). Text: "j,y".
#ifndef SHOAL_OLH_H
#define SHOAL_OLH_H

#include "mechanism.h"

#define SHOAL_OLH_K_MAX (1u << 24)
#define SHOAL_OLH_G_MAX (1u << 20)

#endif
