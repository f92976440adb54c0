// SPDX-License-Identifier: Apache-2.0
// Walsh-Hadamard transforms in integers: x becomes H x with H[i][j] = (-1)^popcount(i & j),
// unscaled (apple-2017 equation 3). Sums wrap, so that a result is exact if it fits its type,
// whatever the intermediate sums.
#ifndef WHT_H
#define WHT_H

#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"

// Transforms one row of a sketch, which should fit the second-level cache. The result is exact if
// the sum of |x_i| is below 2^31, as it is for sums of fewer than 2^31 signs.
//   x: m integers, m a power of two
// Cost: m log2(m) additions.
void agg_wht(int32_t *x, uint32_t m);

// Transforms one row of any 32-bit integers exactly.
//   x: m integers, m a power of two up to 2^31
void agg_wht_row(int64_t *x, uint32_t m);

// Transforms a whole domain, in two passes over memory. The result does not depend on the number of
// threads.
//   x: n integers, n a power of two up to 2^32
agg_err agg_wht_wide(int64_t *x, agg_error *error, size_t n, unsigned n_threads) SHOAL_MUST_CHECK;

#endif
