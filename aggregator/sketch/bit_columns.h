// SPDX-License-Identifier: Apache-2.0
// Vertical counting of bits: how many of a set of packed bit vectors have each bit set. Private to
// sketch/.
//
// bit_columns.c is the reference, in portable C; bit_columns_avx2.c and bit_columns_avx512.c are
// the same algorithm (bit_columns_body.h) in wider vectors, and give the same counts.
// fold_dispatch.c chooses.
#ifndef BIT_COLUMNS_H
#define BIT_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#include "agg_cpu.h"

#define AGG_PLANES_MOST 255u // vectors that kept planes can count

// One variant. Counts wrap at 2^32.
//   vectors: n pointers to (m + 7) / 8 bytes each; unused high bits are not counted
//   planes:  agg_planes_size(m) bytes, zero at first; which bits lie where is the variant's own
//   affair, and the one that filled them empties them
typedef struct agg_bit_columns {
    // Adds to counts[l] the number of vectors with bit l set, for l in [0, m). Cost of a vector of
    // 1024 bits in cache, for 16 or more at once: 9 ns in portable C, 3.5 with AVX2, 2 with
    // AVX-512; 0.5, 0.1, 0.1 us beside it for every AGG_PLANES_MOST.
    void (*add)(uint32_t *counts, uint32_t m, const uint8_t *const *vectors, uint32_t n);
    // The same, into planes, for later: at most AGG_PLANES_MOST vectors in all until they are
    // emptied.
    void (*keep)(uint8_t *planes, uint32_t m, const uint8_t *const *vectors, uint32_t n);
    // Adds what the planes hold to the counts, and empties them.
    void (*empty)(uint32_t *counts, uint32_t m, uint8_t *planes);
    // Vectors of a call of keep, a multiple of 16, beside which reading and writing the planes
    // costs little.
    uint32_t worth;
} agg_bit_columns;

extern const agg_bit_columns agg_bit_columns_portable, agg_bit_columns_avx2, agg_bit_columns_avx512;

// Returns: the variant for an instruction set, the portable one where this build has no other.
const agg_bit_columns *agg_bit_columns_of(agg_cpu cpu);

// Returns: bytes of the planes of m columns: those of the widest vectors, eight times a record's
// bits.
static inline size_t agg_planes_size(uint32_t m)
{
    return 8 * (((size_t)m + 1023) / 1024 * 128);
}

#endif
