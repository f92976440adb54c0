// SPDX-License-Identifier: Apache-2.0
// Exact products of large integers, and the logarithms that enter them. central.c and evolving.c
// are built on these. Private to the core.
#ifndef SHOAL_WHOLE_H
#define SHOAL_WHOLE_H

#include <stdbool.h>
#include <stdint.h>

#define LN_2_58 0x2c5c85fdf473de7u  // ceil(2^58 ln 2)
#define LN_10_58 0x935d8dddaaa8ac2u // ceil(2^58 ln 10)

#define WHOLE_WORDS 8

typedef struct whole {
    uint32_t word[WHOLE_WORDS]; // least significant first
} whole;

// Multiplies *a by b; the product must fit.
static inline void whole_multiply(whole *a, uint64_t b)
{
    whole product = {{0}};
    for (int half = 0; half < 2; half++, b >>= 32) {
        uint64_t carry = 0;
        for (int i = 0; i + half < WHOLE_WORDS; i++) {
            carry += (uint64_t)a->word[i] * (uint32_t)b + product.word[i + half];
            product.word[i + half] = (uint32_t)carry;
            carry >>= 32;
        }
    }
    *a = product;
}

// Returns: a b c; the product must fit.
static inline whole whole_product(uint64_t a, uint64_t b, uint64_t c)
{
    whole product = {{(uint32_t)a, (uint32_t)(a >> 32)}};
    whole_multiply(&product, b);
    whole_multiply(&product, c);
    return product;
}

// Returns: whether a < b.
static inline bool whole_less(const whole *a, const whole *b)
{
    for (int i = WHOLE_WORDS - 1; i >= 0; i--)
        if (a->word[i] != b->word[i]) return a->word[i] < b->word[i];
    return false;
}

// Returns: words i and i + 1, that is floor(a / 2^(32 i)) mod 2^64.
static inline uint64_t whole_words(const whole *a, int i)
{
    return (uint64_t)a->word[i + 1] << 32 | a->word[i];
}

#endif
