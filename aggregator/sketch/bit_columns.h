// SPDX-License-Identifier: Apache-2.0
// Vertical counting of bits: how many of a set of packed bit vectors have each bit set. Private to sketch/.
//
// bit_columns.c is the reference, in portable C; bit_columns_avx2.c and bit_columns_avx512.c are the same algorithm
// (bit_columns_body.h) in wider vectors, and give the same counts. fold_dispatch.c chooses.
#ifndef BIT_COLUMNS_H
#define BIT_COLUMNS_H

#include <stdint.h>

#include "agg_cpu.h"

// Adds to counts[l] the number of vectors with bit l set, for l in [0, m).
//   vectors: n pointers to (m + 7) / 8 bytes each; unused high bits are not counted
// Counts wrap at 2^32. Cost of a vector of 1024 bits in cache, for 16 or more at once: about 25 ns in portable C, 9 with AVX2, 3 with AVX-512;
// a fixed 0.7, 0.3, 0.2 us a call of up to 255 beside it.
typedef void (*agg_bit_columns)(uint32_t *counts, uint32_t m, const uint8_t *const *vectors, uint32_t n);

void agg_bit_columns_portable(uint32_t *counts, uint32_t m, const uint8_t *const *vectors, uint32_t n);
void agg_bit_columns_avx2(uint32_t *counts, uint32_t m, const uint8_t *const *vectors, uint32_t n);
void agg_bit_columns_avx512(uint32_t *counts, uint32_t m, const uint8_t *const *vectors, uint32_t n);

// Returns: the variant for an instruction set, the portable one where this build has no other.
agg_bit_columns agg_bit_columns_of(agg_cpu cpu);

#endif
