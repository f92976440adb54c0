// SPDX-License-Identifier: Apache-2.0
// Walsh-Hadamard transform in integers.
#ifndef WHT_H
#define WHT_H

#include <stdint.h>

// Replaces x by H x, H[i][j] = (-1)^popcount(i & j) (apple-2017 equation 3), unscaled.
//   x: m integers, m a power of two; exact as long as the sum of |x_i| is below 2^31 (a sum of n signs: n < 2^31)
// Cost: m log2(m) additions.
void agg_wht(int32_t *x, uint32_t m);

#endif
