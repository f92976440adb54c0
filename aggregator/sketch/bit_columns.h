// SPDX-License-Identifier: Apache-2.0
// Vertical counting of bits: in how many of a set of packed bit vectors each bit is set. Private
// to sketch/.
//
// bit_columns.c is the reference, in portable C. bit_columns_avx2.c and bit_columns_avx512.c run
// the same algorithm (bit_columns_body.h) on wider vectors and give the same counts.
// fold_dispatch.c chooses.
#ifndef BIT_COLUMNS_H
#define BIT_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#include "agg_cpu.h"

#define AGG_COUNTERS_MAX 255u // vectors that carry-save counters can count: eight bits a column

// One variant. Counts wrap at 2^32.
//   vectors:  n pointers to (m + 7) / 8 bytes each; unused high bits are not counted
//   counters: agg_counters_size(m) bytes, zero at first. Each variant orders the bits in its own
//             way, so only the variant that filled them may drain them
typedef struct agg_bit_columns {
    // Adds to counts[l] the number of vectors with bit l set, for l in [0, m). Cost of a vector of
    // 1024 bits in cache, for 16 or more at once: 9 ns in portable C, 3.5 with AVX2, 2 with
    // AVX-512; and 0.5, 0.1, 0.1 us for every AGG_COUNTERS_MAX vectors.
    void (*add)(uint32_t *counts, uint32_t m, const uint8_t *const *vectors, uint32_t n);
    // Adds the same numbers to carry-save counters: at most AGG_COUNTERS_MAX vectors in all until
    // they are drained.
    void (*collect)(uint8_t *counters, uint32_t m, const uint8_t *const *vectors, uint32_t n);
    // Adds the counters to the counts, and clears them.
    void (*drain)(uint32_t *counts, uint32_t m, uint8_t *counters);
    // The fewest vectors of a call of collect, a multiple of 16, for which reading and writing the
    // counters costs little.
    uint32_t block_min;
} agg_bit_columns;

extern const agg_bit_columns agg_bit_columns_portable, agg_bit_columns_avx2, agg_bit_columns_avx512;

// Returns: the variant for an instruction set, or the portable one where this build has no other.
const agg_bit_columns *agg_bit_columns_of(agg_cpu cpu);

// Returns: bytes of the carry-save counters of m columns, rounded up to the widest vectors: eight
// times the bits of a record, a quarter of the counts.
static inline size_t agg_counters_size(uint32_t m)
{
    return 8 * (((size_t)m + 1023) / 1024 * 128);
}

#endif
