// SPDX-License-Identifier: Apache-2.0
// Field128 eight elements at a time, with AVX-512 IFMA. Private to the files that are built with
// those instructions.
//
// An element is three limbs in radix 2^52, the word that the multiply-add instructions take. A
// value need not be below p: limbs 0 and 1 are below 2^52, limb 2 has 28 bits of room above p's, so
// sums are not reduced. Products are Montgomery's with R = 2^156: lanes_mul(aR, b) = a b. Because
// p = 1 mod 2^52, the multiplier of a reduction step is the limb itself, and because
// p = 2^128 - 7 * 2^66 + 1, the rest of a step is one product and two shifts.
//
// No instruction branches or indexes on a value.
#ifndef SHOAL_FIELD128_LANES_H
#define SHOAL_FIELD128_LANES_H

#include <immintrin.h>

#include "field128.h"

#define LANES 8
#define LANES_WORDS (3 * LANES) // 64-bit words of a vector in memory

typedef struct lanes {
    __m512i limb[3];
} lanes;

// The six columns of a product, or of a sum of at most 256 products, before reduction.
typedef struct lanes_columns {
    __m512i at[6];
} lanes_columns;

static inline __m512i lanes_all(uint64_t word)
{
    return _mm512_set1_epi64((long long)word);
}

#define LANES_MASK 0xfffffffffffffu
#define LANES_P1 (LANES_MASK + 1 - (7u << 14)) // p's limbs are 1, LANES_P1 and LANES_P2
#define LANES_P2 0xffffffu

// Carries between limbs, which may be negative.
static inline lanes lanes_carry(__m512i l0, __m512i l1, __m512i l2)
{
    const __m512i mask = lanes_all(LANES_MASK);
    l1 = _mm512_add_epi64(l1, _mm512_srai_epi64(l0, 52));
    l2 = _mm512_add_epi64(l2, _mm512_srai_epi64(l1, 52));
    return (lanes){{_mm512_and_si512(l0, mask), _mm512_and_si512(l1, mask), l2}};
}

static inline lanes lanes_add(lanes a, lanes b)
{
    return lanes_carry(_mm512_add_epi64(a.limb[0], b.limb[0]),
                       _mm512_add_epi64(a.limb[1], b.limb[1]),
                       _mm512_add_epi64(a.limb[2], b.limb[2]));
}

// Returns: a - b + 2^k p. b must be at most 2^k p; k is at most 10.
static inline lanes lanes_sub(lanes a, lanes b, unsigned k)
{
    __m512i l0 = _mm512_add_epi64(a.limb[0], lanes_all(1ull << k)),
            l1 = _mm512_add_epi64(a.limb[1], lanes_all((uint64_t)LANES_P1 << k)),
            l2 = _mm512_add_epi64(a.limb[2], lanes_all((uint64_t)LANES_P2 << k));
    return lanes_carry(_mm512_sub_epi64(l0, b.limb[0]), _mm512_sub_epi64(l1, b.limb[1]),
                       _mm512_sub_epi64(l2, b.limb[2]));
}

#define LANES_LOW(sum, a, b) (sum) = _mm512_madd52lo_epu64(sum, a, b)
#define LANES_HIGH(sum, a, b) (sum) = _mm512_madd52hi_epu64(sum, a, b)

// Adds a b to the columns.
static inline void lanes_multiply_add(lanes_columns *sum, lanes a, lanes b)
{
    __m512i *t = sum->at;
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned j = 0; j < 3; j++) {
            LANES_LOW(t[i + j], a.limb[i], b.limb[j]);
            LANES_HIGH(t[i + j + 1], a.limb[i], b.limb[j]);
        }
    }
}

// Returns: the columns' value divided by R, plus at most p: the value below 2^283, the result is
// above 0 and below p + 2^127.
static inline lanes lanes_reduce(lanes_columns columns)
{
    const __m512i mask = lanes_all(LANES_MASK), seven = lanes_all(7u << 14);
    __m512i *t = columns.at;
    t[3] = _mm512_add_epi64(t[3], lanes_all(1));
    t[4] = _mm512_add_epi64(t[4], lanes_all(LANES_P1));
    t[5] = _mm512_add_epi64(t[5], lanes_all(LANES_P2));
    for (unsigned i = 0; i < 3; i++) {
        __m512i m = _mm512_and_si512(t[i], mask);
        t[i + 1] = _mm512_add_epi64(t[i + 1], _mm512_srai_epi64(t[i], 52));
        LANES_LOW(t[i + 1], m, seven);
        LANES_HIGH(t[i + 2], m, seven);
        t[i + 2] = _mm512_sub_epi64(t[i + 2], _mm512_and_si512(_mm512_slli_epi64(m, 24), mask));
        t[i + 3] = _mm512_sub_epi64(t[i + 3], _mm512_srli_epi64(m, 28));
    }
    return lanes_carry(t[3], t[4], t[5]);
}

static inline lanes_columns lanes_no_columns(void)
{
    const __m512i zero = _mm512_setzero_si512();
    return (lanes_columns){{zero, zero, zero, zero, zero, zero}};
}

// Returns: a b / R, above 0 and below p + 2^127. The product of the values must be below 2^283.
static inline lanes lanes_mul(lanes a, lanes b)
{
    lanes_columns product = lanes_no_columns();
    lanes_multiply_add(&product, a, b);
    return lanes_reduce(product);
}

// Returns: elements given by their words, one per lane.
static inline lanes lanes_of_words(__m512i low, __m512i high)
{
    const __m512i mask = lanes_all(LANES_MASK);
    __m512i middle = _mm512_or_si512(_mm512_srli_epi64(low, 52), _mm512_slli_epi64(high, 12));
    return (lanes){
        {_mm512_and_si512(low, mask), _mm512_and_si512(middle, mask), _mm512_srli_epi64(high, 40)}};
}

// Returns: n <= 8 consecutive elements, then zeros.
static inline lanes lanes_load(const shoal_field128 *from, size_t n)
{
    const __m512i evens = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14),
                  odds = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
    uint32_t words = (1u << 2 * n) - 1;
    __m512i a = _mm512_maskz_loadu_epi64((__mmask8)words, from),
            b = _mm512_maskz_loadu_epi64((__mmask8)(words >> 8), (const uint64_t *)from + LANES);
    return lanes_of_words(_mm512_permutex2var_epi64(a, evens, b),
                          _mm512_permutex2var_epi64(a, odds, b));
}

// Returns: the element in every lane.
static inline lanes lanes_broadcast(shoal_field128 element)
{
    return lanes_of_words(lanes_all(element.low), lanes_all(element.high));
}

// Returns: values below 2p, reduced below p.
static inline lanes lanes_canonical(lanes a)
{
    lanes less = lanes_carry(_mm512_sub_epi64(a.limb[0], lanes_all(1)),
                             _mm512_sub_epi64(a.limb[1], lanes_all(LANES_P1)),
                             _mm512_sub_epi64(a.limb[2], lanes_all(LANES_P2)));
    __mmask8 is_below = _mm512_movepi64_mask(less.limb[2]);
    for (unsigned i = 0; i < 3; i++)
        less.limb[i] = _mm512_mask_mov_epi64(less.limb[i], is_below, a.limb[i]);
    return less;
}

// Writes eight elements from values below 2p.
static inline void lanes_store(shoal_field128 to[LANES], lanes a)
{
    uint64_t low[LANES], high[LANES];
    a = lanes_canonical(a);
    _mm512_storeu_si512(low, _mm512_or_si512(a.limb[0], _mm512_slli_epi64(a.limb[1], 52)));
    _mm512_storeu_si512(
        high, _mm512_or_si512(_mm512_srli_epi64(a.limb[1], 12), _mm512_slli_epi64(a.limb[2], 40)));
    for (unsigned i = 0; i < LANES; i++) to[i] = (shoal_field128){low[i], high[i]};
}

// Returns: the sum of the lanes that the mask names, as an element. Limbs may be up to 2^60.
static inline shoal_field128 lanes_sum(lanes a, __mmask8 which)
{
    uint64_t l[3], carry = 0, words[4] = {0};
    for (unsigned i = 0; i < 3; i++)
        l[i] = (uint64_t)_mm512_mask_reduce_add_epi64(which, a.limb[i]);
    words[0] = wide_add(l[0], l[1] << 52, &carry);
    words[1] = wide_add(l[1] >> 12, carry, &words[2]);
    words[1] = wide_add(words[1], l[2] << 40, &words[2]);
    words[2] += l[2] >> 24;
    field128_fold(words); // from below 2^168 to below 2^128 + 2^109
    return field128_reduce_once(words[0], words[1], words[2]);
}

// R and R^2 mod p.
static inline lanes lanes_r(void)
{
    return (lanes){{lanes_all(0xffffff0000000u), lanes_all(0x1bffffffffffu), lanes_all(0)}};
}
static inline lanes lanes_r_squared(void)
{
    return (lanes){{lanes_all(0xfffffffffffabu), lanes_all(0x948f0fu), lanes_all(0x880000u)}};
}

// A vector in memory.
static inline lanes lanes_get(const uint64_t *from)
{
    return (lanes){{_mm512_loadu_si512(from), _mm512_loadu_si512(from + LANES),
                    _mm512_loadu_si512(from + 2 * LANES)}};
}
static inline void lanes_put(uint64_t *to, lanes a)
{
    for (unsigned i = 0; i < 3; i++) _mm512_storeu_si512(to + i * LANES, a.limb[i]);
}

#endif
