// SPDX-License-Identifier: Apache-2.0
// Vertical counting of bits with AVX2, 256 columns at a time. The algorithm is in
// bit_columns_body.h, the reference in bit_columns.c.
#include "bit_columns.h"

#include <immintrin.h>
#include <string.h>

#define VECTOR_BYTES 32u

typedef __m256i vector;

static inline vector no_bits(void)
{
    return _mm256_setzero_si256();
}

static inline vector load_whole(const uint8_t *from)
{
    return _mm256_loadu_si256((const void *)from);
}

static inline void store_whole(uint8_t *to, const vector *x)
{
    _mm256_storeu_si256((void *)to, *x);
}

static inline vector load_part(const uint8_t *from, uint32_t len)
{
    if (len % 4 == 0) { // maskload does not read words that are masked out
        const __m256i places = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        return _mm256_maskload_epi32((const void *)from,
                                     _mm256_cmpgt_epi32(_mm256_set1_epi32((int)len / 4), places));
    }
    uint8_t padded[VECTOR_BYTES] = {0};
    memcpy(padded, from, len);
    return load_whole(padded);
}

static inline void full_add(vector *carry, vector *sum, const vector *a, const vector *b,
                            const vector *c)
{
    vector u = _mm256_xor_si256(*a, *b), both = _mm256_and_si256(*a, *b), z = *c;
    *carry = _mm256_or_si256(both, _mm256_and_si256(u, z));
    *sum = _mm256_xor_si256(u, z);
}

static inline void half_add(vector *carry, vector *sum, const vector *a, const vector *b)
{
    vector x = *a, y = *b;
    *carry = _mm256_and_si256(x, y);
    *sum = _mm256_xor_si256(x, y);
}

// Swaps, in every byte, the bits of x under mask << shift with those of y under mask.
static inline void swap_bits(vector *x, vector *y, int shift, int mask)
{
    vector t = _mm256_and_si256(_mm256_xor_si256(_mm256_srli_epi64(*x, shift), *y),
                                _mm256_set1_epi8((char)mask));
    *y = _mm256_xor_si256(*y, t);
    *x = _mm256_xor_si256(*x, _mm256_slli_epi64(t, shift));
}

// Transposes bits: bit c of byte b of plane p becomes bit p of byte b of vector c. Vector c then
// holds the numbers of every eighth column.
static inline void transpose_bits(vector x[8])
{
    for (unsigned i = 0; i < 4; i++) swap_bits(&x[i], &x[i + 4], 4, 0x0f);
    for (unsigned i = 0; i < 8; i += i % 4 == 1 ? 3 : 1) swap_bits(&x[i], &x[i + 2], 2, 0x33);
    for (unsigned i = 0; i < 8; i += 2) swap_bits(&x[i], &x[i + 1], 1, 0x55);
}

// Adds eight numbers, a byte each, to their counts.
static inline void widen(uint32_t *counts, const uint8_t *numbers)
{
    __m256i more = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)numbers));
    _mm256_storeu_si256((void *)counts,
                        _mm256_add_epi32(_mm256_loadu_si256((const void *)counts), more));
}

static inline void add_numbers(uint32_t *counts, uint32_t columns, const vector *planes)
{
    uint8_t numbers[256];
    vector x[8], pairs[8], fours[8];
    memcpy(x, planes, sizeof x);
    transpose_bits(x);
    // Vector c has column 8 b + c in byte b. Three interleavings bring eight neighbours together
    // in each half of the vectors.
    for (unsigned i = 0; i < 4; i++) {
        pairs[i] = _mm256_unpacklo_epi8(x[2 * i], x[2 * i + 1]);
        pairs[4 + i] = _mm256_unpackhi_epi8(x[2 * i], x[2 * i + 1]);
    }
    for (unsigned i = 0; i < 8; i += 2) {
        fours[i] = _mm256_unpacklo_epi16(pairs[i], pairs[i + 1]);
        fours[i + 1] = _mm256_unpackhi_epi16(pairs[i], pairs[i + 1]);
    }
    for (unsigned i = 0; i < 4; i++) {
        // Bytes 4 i .. 4 i + 3 of each half's sixteen
        unsigned at = i / 2 * 4 + i % 2;
        vector low = _mm256_unpacklo_epi32(fours[at], fours[at + 2]);
        vector high = _mm256_unpackhi_epi32(fours[at], fours[at + 2]);
        _mm_storeu_si128((void *)(numbers + 32 * i), _mm256_castsi256_si128(low));
        _mm_storeu_si128((void *)(numbers + 32 * i + 16), _mm256_castsi256_si128(high));
        _mm_storeu_si128((void *)(numbers + 128 + 32 * i), _mm256_extracti128_si256(low, 1));
        _mm_storeu_si128((void *)(numbers + 128 + 32 * i + 16), _mm256_extracti128_si256(high, 1));
    }
    if (columns >= 256) {
        for (unsigned i = 0; i < 256; i += 8) widen(counts + i, numbers + i);
        return;
    }
    for (uint32_t i = 0; i < columns; i++) counts[i] += numbers[i];
}

#include "bit_columns_body.h"

static void add(uint32_t *counts, uint32_t m, const uint8_t *const *vectors, uint32_t n)
{
    count_vectors(counts, m, vectors, n);
}

static void collect(uint8_t *counters, uint32_t m, const uint8_t *const *vectors, uint32_t n)
{
    collect_vectors(counters, m, vectors, n);
}

static void drain(uint32_t *counts, uint32_t m, uint8_t *counters)
{
    drain_counters(counts, m, counters);
}

const agg_bit_columns agg_bit_columns_avx2 = {
    .add = add, .collect = collect, .drain = drain, .block_min = 16};
