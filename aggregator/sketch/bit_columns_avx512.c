// SPDX-License-Identifier: Apache-2.0
// Vertical counting of bits with AVX-512 (F, BW), 1024 columns at a time. The algorithm is in
// bit_columns_body.h, the reference in bit_columns.c. An adder is two ternary operations. A word of
// plane p is a mask of 64 bytes, to which 2^p is added.
//
// A vector is two registers, not one, so that records of 1024 bits are read from front to back:
// passes over every other cache line of memory take twice as long.
#include "bit_columns.h"

#include <immintrin.h>

#define VECTOR_BYTES 128u
#define WORDS 16u

typedef struct vector {
    __m512i low, high;
} vector;

static inline vector no_bits(void)
{
    return (vector){_mm512_setzero_si512(), _mm512_setzero_si512()};
}

static inline vector load_whole(const uint8_t *from)
{
    return (vector){_mm512_loadu_si512(from), _mm512_loadu_si512(from + 64)};
}

static inline void store_whole(uint8_t *to, const vector *x)
{
    _mm512_storeu_si512(to, x->low);
    _mm512_storeu_si512(to + 64, x->high);
}

// Loads the first `len` of 64 bytes; the others are not read.
static inline __m512i load_masked(const uint8_t *from, uint32_t len)
{
    return _mm512_maskz_loadu_epi8(len < 64 ? ((__mmask64)1 << len) - 1 : ~(__mmask64)0, from);
}

static inline vector load_part(const uint8_t *from, uint32_t len)
{
    if (len <= 64) return (vector){load_masked(from, len), _mm512_setzero_si512()};
    return (vector){_mm512_loadu_si512(from), load_masked(from + 64, len - 64)};
}

// The immediates are truth tables: majority, and parity.
static inline void full_add(vector *carry, vector *sum, const vector *a, const vector *b,
                            const vector *c)
{
    const vector x = *a, y = *b, z = *c;
    carry->low = _mm512_ternarylogic_epi64(x.low, y.low, z.low, 0xe8);
    carry->high = _mm512_ternarylogic_epi64(x.high, y.high, z.high, 0xe8);
    sum->low = _mm512_ternarylogic_epi64(x.low, y.low, z.low, 0x96);
    sum->high = _mm512_ternarylogic_epi64(x.high, y.high, z.high, 0x96);
}

static inline void half_add(vector *carry, vector *sum, const vector *a, const vector *b)
{
    const vector x = *a, y = *b;
    carry->low = _mm512_and_si512(x.low, y.low);
    carry->high = _mm512_and_si512(x.high, y.high);
    sum->low = _mm512_xor_si512(x.low, y.low);
    sum->high = _mm512_xor_si512(x.high, y.high);
}

// Adds sixteen numbers, those at `from`, to their counts.
static inline void widen(uint32_t *counts, __m128i numbers)
{
    __m512i sum = _mm512_add_epi32(_mm512_loadu_si512(counts), _mm512_cvtepu8_epi32(numbers));
    _mm512_storeu_si512(counts, sum);
}

// The numbers of word `word`'s 64 columns, a byte each.
static inline __m512i numbers_of(const uint64_t (*planes)[WORDS], unsigned word)
{
    __m512i numbers = _mm512_setzero_si512();
    for (unsigned p = 0; p < 8; p++)
        numbers = _mm512_mask_add_epi8(numbers, planes[p][word], numbers,
                                       _mm512_set1_epi8((char)(1u << p)));
    return numbers;
}

static inline void add_numbers(uint32_t *counts, uint32_t columns, const vector *planes)
{
    uint64_t words[8][WORDS];
    for (unsigned p = 0; p < 8; p++) {
        _mm512_storeu_si512(words[p], planes[p].low);
        _mm512_storeu_si512(words[p] + WORDS / 2, planes[p].high);
    }
    for (unsigned word = 0; word < WORDS && 64 * word < columns; word++) {
        __m512i numbers = numbers_of((const uint64_t(*)[WORDS])words, word);
        uint32_t *to = counts + 64 * word, left = columns - 64 * word;
        if (left >= 64) {
            widen(to, _mm512_castsi512_si128(numbers));
            widen(to + 16, _mm512_extracti32x4_epi32(numbers, 1));
            widen(to + 32, _mm512_extracti32x4_epi32(numbers, 2));
            widen(to + 48, _mm512_extracti32x4_epi32(numbers, 3));
            continue;
        }
        uint8_t bytes[64];
        _mm512_storeu_si512(bytes, numbers);
        for (uint32_t i = 0; i < left; i++) to[i] += bytes[i];
    }
}

#include "bit_columns_body.h"

#define NARROW 512u // columns, with which half a vector is empty and AVX2 is no slower

static void add(uint32_t *counts, uint32_t m, const uint8_t *const *vectors, uint32_t n)
{
    if (m <= NARROW)
        agg_bit_columns_avx2.add(counts, m, vectors, n);
    else
        count_vectors(counts, m, vectors, n);
}

static void collect(uint8_t *counters, uint32_t m, const uint8_t *const *vectors, uint32_t n)
{
    if (m <= NARROW)
        agg_bit_columns_avx2.collect(counters, m, vectors, n);
    else
        collect_vectors(counters, m, vectors, n);
}

static void drain(uint32_t *counts, uint32_t m, uint8_t *counters)
{
    if (m <= NARROW)
        agg_bit_columns_avx2.drain(counts, m, counters);
    else
        drain_counters(counts, m, counters);
}

const agg_bit_columns agg_bit_columns_avx512 = {
    .add = add, .collect = collect, .drain = drain, .block_min = 16};
