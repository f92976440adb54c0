// SPDX-License-Identifier: Apache-2.0
// Vertical counting of bits: how many of a set of packed bit vectors have each bit set. Private to sketch/.
#ifndef BIT_COLUMNS_H
#define BIT_COLUMNS_H

#include <stdint.h>

// Adds to counts[l] the number of vectors with bit l set, for l in [0, m).
//   vectors: n pointers to (m + 7) / 8 bytes each; unused high bits zero
// How: carry-save adders keep the counts of up to 255 vectors as bit planes, which are then transposed into bytes and added
// to the 32-bit counts. Portable C, the reference for later SIMD.
// Cost: about 40 ns a vector of 1024 bits in cache, for 15 or more at once; a fixed 0.6 us a call beside it.
void agg_bit_columns_add(uint32_t *counts, uint32_t m, const uint8_t *const *vectors, uint32_t n);

#endif
