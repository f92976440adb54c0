// SPDX-License-Identifier: Apache-2.0
// Computes an integer exponential and the thresholds derived from it; see probability.h.
//
// A fixed-point number is eight 32-bit limbs, least significant first, with 192 fractional bits and
// 64 integer bits. e^x for 0 < x <= 16 is the sum of x^i/i!, in which all terms are positive. Each
// term follows from the last by one multiplication and one division by small integers. Only the
// division rounds, downward, by less than one unit u = 2^-192.
//
// A term's error obeys err_i <= err_{i-1} x/i + u, so err_i <= u e^16. The sum of the first TERMS
// terms is low by less than TERMS * u * e^16 < 2^7 * 2^24 * 2^-192 = 2^-161. The omitted terms,
// from x^TERMS/TERMS! on with x <= 16 and TERMS = 128, add up to less than 2 * 16^128/128! <
// 2^-203. The sum L is therefore a lower bound of e^x, and e^x - L < 2^-160.
//
// Multiplied by a and divided by b, with a, b <= 2^25, the bound is off by less than 2^-135 and
// stays a lower bound. The product is below 2^49, so the integer limbs have room.
//
// T = ceil(2^64 / (L + 1)) >= 2^64/(e^x + 1). The excess over the exact quotient is below 2^64 *
// 2^-135, far inside the 2^-40 that the header states.
#include "probability.h"

#include <stdbool.h>

#include "bytes.h"
#include "exponential.h"

#define LIMBS 8
#define FRACTION_LIMBS 6
#define TERMS 128
#define ODDS_MAX (1u << 25)

typedef struct fixed {
    uint32_t limb[LIMBS];
} fixed;

static void multiply_small(fixed *a, uint32_t factor)
{
    uint64_t carry = 0;
    for (int i = 0; i < LIMBS; i++) {
        carry += (uint64_t)a->limb[i] * factor;
        a->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

static void divide_small(fixed *a, uint32_t divisor)
{
    uint64_t rest = 0;
    for (int i = LIMBS - 1; i >= 0; i--) {
        rest = rest << 32 | a->limb[i];
        a->limb[i] = (uint32_t)(rest / divisor);
        rest %= divisor;
    }
}

static void add(fixed *a, const fixed *b)
{
    uint64_t carry = 0;
    for (int i = 0; i < LIMBS; i++) {
        carry += (uint64_t)a->limb[i] + b->limb[i];
        a->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

// Returns a lower bound of e^(numerator/denominator) that is low by less than 2^-160.
//   numerator <= 2^24; denominator * TERMS < 2^32; the quotient <= 16, so no term reaches 2^24 and
//   the limbs have room
static fixed exponential(uint32_t numerator, uint32_t denominator)
{
    fixed term = {{0}}, sum;
    term.limb[FRACTION_LIMBS] = 1;
    sum = term;
    for (uint32_t i = 1; i < TERMS; i++) {
        multiply_small(&term, numerator);
        divide_small(&term, denominator * i);
        add(&sum, &term);
    }
    return sum;
}

// Of the 40 fractional bits, the top fraction limb holds 32 and the next limb 8. Truncation loses
// less than one unit, and the bound's own error of 2^-160 is far below another.
uint64_t shoal_exponential(uint32_t micro)
{
    fixed e = exponential(micro, 1000000);
    const uint32_t *top = e.limb + FRACTION_LIMBS;
    return (uint64_t)top[0] << SHOAL_EXPONENTIAL_BITS | (uint64_t)top[-1] << 8 | top[-2] >> 24;
}

// Returns whether t * a >= 2^64.
static bool product_reaches(uint64_t t, const fixed *a)
{
    uint32_t product[LIMBS + 2] = {0};
    uint32_t half[2] = {(uint32_t)t, (uint32_t)(t >> 32)};
    for (int h = 0; h < 2; h++) {
        uint64_t carry = 0;
        for (int i = 0; i < LIMBS; i++) {
            carry += (uint64_t)a->limb[i] * half[h] + product[i + h];
            product[i + h] = (uint32_t)carry;
            carry >>= 32;
        }
        product[LIMBS + h] = (uint32_t)carry;
    }
    return product[LIMBS] != 0 || product[LIMBS + 1] != 0; // bits of weight 2^64 and above
}

// Returns the smallest t with t * a >= 2^64, which is ceil(2^64/a); 1 < a.
static uint64_t reciprocal_ceil(const fixed *a)
{
    uint64_t below = 0; // the largest t found with t * a < 2^64
    for (int bit = 63; bit >= 0; bit--) {
        uint64_t t = below | (uint64_t)1 << bit;
        if (!product_reaches(t, a)) below = t;
    }
    return below + 1;
}

// A coin whose common side has the odds (a/b) e^(epsilon/halves).
typedef struct coin {
    uint32_t halves, a, b;
} coin;

static shoal_err threshold_of(uint64_t *threshold, uint32_t eps_micro, const coin *c)
{
    if (eps_micro < SHOAL_EPS_MICRO_MIN || eps_micro > SHOAL_EPS_MICRO_MAX || c->halves < 1 ||
        c->halves > 2)
        return SHOAL_ERR_RANGE;
    if (c->a < 1 || c->a > ODDS_MAX || c->b < 1 || c->b > ODDS_MAX) return SHOAL_ERR_RANGE;
    fixed odds = exponential(eps_micro, 1000000 * c->halves);
    fixed one = {{0}};
    one.limb[FRACTION_LIMBS] = 1;
    multiply_small(&odds, c->a);
    divide_small(&odds, c->b);
    add(&odds, &one);
    *threshold = reciprocal_ceil(&odds);
    return SHOAL_OK;
}

static shoal_err epsilon_of(uint32_t *eps_micro, uint64_t threshold, const coin *c)
{
    uint32_t low = SHOAL_EPS_MICRO_MIN, high = SHOAL_EPS_MICRO_MAX;
    uint64_t t;
    shoal_err err = threshold_of(&t, high, c);
    if (err != SHOAL_OK) return err;
    if (threshold < t) return SHOAL_ERR_RANGE;
    while (low < high) { // the smallest epsilon whose threshold is not above this one
        uint32_t middle = low + (high - low) / 2;
        err = threshold_of(&t, middle, c);
        if (err != SHOAL_OK) return err;
        if (t <= threshold)
            high = middle;
        else
            low = middle + 1;
    }
    *eps_micro = low;
    return SHOAL_OK;
}

shoal_err shoal_threshold(uint64_t *threshold, uint32_t eps_micro, uint32_t halves)
{
    return threshold_of(threshold, eps_micro, &(coin){halves, 1, 1});
}

shoal_err shoal_threshold_odds(uint64_t *threshold, uint32_t eps_micro, uint32_t a, uint32_t b)
{
    return threshold_of(threshold, eps_micro, &(coin){1, a, b});
}

shoal_err shoal_threshold_epsilon(uint32_t *eps_micro, uint64_t threshold, uint32_t halves)
{
    if (threshold > (uint64_t)1 << 63) return SHOAL_ERR_RANGE;
    return epsilon_of(eps_micro, threshold, &(coin){halves, 1, 1});
}

shoal_err shoal_threshold_odds_epsilon(uint32_t *eps_micro, uint64_t threshold, uint32_t a,
                                       uint32_t b)
{
    return epsilon_of(eps_micro, threshold, &(coin){1, a, b});
}
