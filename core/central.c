// SPDX-License-Identifier: Apache-2.0
// Theorem 3.1's closed form, decided in integers; see central.h.
//
// There is no logarithm and no root here. With E = e^eps0 and d = e^epsilon - 1, "the closed form is at most epsilon" reads
//
//     (E - 1) (sqrt(32 ln(4/delta) / ((E + 1) n)) + 4/n) <= d
//     32 ln(4/delta) (E - 1)^2 n <= (E + 1) (d n - 4 (E - 1))^2    and    4 (E - 1) <= d n                       (*)
//
// and products of integers are exact. What is rounded is only what goes in, each quantity against the analyst. The unit is
// u = 2^-40; D(x) is shoal_exponential's lower bound, D(x) <= e^x < D(x) + 2u:
//
//     d      D(epsilon) - 1          low by less than 2u
//     E - 1  D(eps0) - 1 + 2u        high by at most 2u
//     E + 1  D(eps0) + 1             low by less than 2u
//     ln     2 ln 2 + K ln 10        high by less than (2 + K) 2^-58, and as 32 ln in units of u by 2^-40 more
//
// So (*) as computed implies (*): the guarantee that is found holds.
//
// It is tight. The condition is decided first, and where it holds y = sqrt(32 ln(4/delta)/((E + 1) n)) + 4/n is below 2: n >= 8 ln(2/delta)
// (E + 1) gives 4/n < 1/30 and a root below 2 sqrt(ln(4/delta)/ln(2/delta))/(E + 1) < 1.05. The errors of E - 1, E + 1 and ln raise
// (E - 1) y by less than 2.2u + u + u/100, and d lags by 2u, so that epsilon, of which d has the derivative e^epsilon > 1, is high by less
// than 6u < 2^-37, and that is below 2^-17 of a micro-unit. The guarantee is the least whole micro-unit for which (*) holds.
//
// Both searches are by halves, which needs (*) monotone. In epsilon: D rises by a million units from one micro-unit to the next, and the
// right side with it. In n: divided by n the left side is constant, and (d n - c)^2/n has the derivative (d n - c)(d n + c)/n^2 >= 0 where
// c = 4 (E - 1) <= d n. In eps0: (E - 1)^2/(E + 1) and c rise with D. In delta: ln rises. All of this is about the rounded numbers,
// of which (*) is evaluated exactly, so it holds for what is computed and not only for what is meant.
//
// The condition eps0 <= ln(n/(8 ln(2/delta)) - 1) is n >= 8 ln(2/delta) (E + 1): the least such n, from E + 1 and ln rounded up, is high
// by less than 2^-26 before it is rounded up to a whole number.
//
// Sizes: e^x < 2^23.1, so d, E - 1 and E + 1 are below 2^64 units; n < 2^40; d n < 2^104; the right side is below 2^64 2^208 = 2^272, the
// left below 2^52 2^128 2^40 = 2^220. Nine words hold both.
#include "central.h"

#include "exponential.h"
#include "probability.h"

#define ONE ((uint64_t)1 << SHOAL_EXPONENTIAL_BITS)
#define LN_2 0x2c5c85fdf473de7u  // ceil(2^58 ln 2)
#define LN_10 0x935d8dddaaa8ac2u // ceil(2^58 ln 10)

#define WORDS 9

typedef struct whole {
    uint32_t word[WORDS]; // least significant first
} whole;

// a *= b. The product must fit.
static void multiply_whole(whole *a, const whole *b)
{
    whole product = {{0}};
    for (int i = 0; i < WORDS; i++) {
        uint64_t carry = 0;
        for (int j = 0; i + j < WORDS; j++) {
            carry += (uint64_t)a->word[i] * b->word[j] + product.word[i + j];
            product.word[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
    }
    *a = product;
}

static void multiply(whole *a, uint64_t b)
{
    whole factor = {{(uint32_t)b, (uint32_t)(b >> 32)}};
    multiply_whole(a, &factor);
}

static whole product_of(uint64_t a, uint64_t b)
{
    whole product = {{(uint32_t)a, (uint32_t)(a >> 32)}};
    multiply(&product, b);
    return product;
}

// a -= b. Returns: 1 where b was the larger; a is then of no use.
static int subtract(whole *a, const whole *b)
{
    uint64_t borrow = 0;
    for (int i = 0; i < WORDS; i++) {
        uint64_t difference = (uint64_t)a->word[i] - b->word[i] - borrow;
        a->word[i] = (uint32_t)difference;
        borrow = difference >> 63;
    }
    return (int)borrow;
}

// What does not depend on n and epsilon, in units of u.
typedef struct crowd {
    uint64_t minus, plus; // E - 1, high; E + 1, low
    uint64_t log;         // 32 ln(4/delta), high
    uint64_t least;       // the smallest n for which the condition holds
} crowd;

static int is_in_range(uint32_t eps0_micro, uint32_t delta_exp)
{
    return eps0_micro >= 1 && eps0_micro <= SHOAL_EPS_MICRO_MAX && delta_exp >= SHOAL_DELTA_EXP_MIN &&
           delta_exp <= SHOAL_DELTA_EXP_MAX;
}

static crowd crowd_of(uint32_t eps0_micro, uint32_t delta_exp)
{
    uint64_t e = shoal_exponential(eps0_micro), log = LN_2 + delta_exp * LN_10; // ln(2/delta)
    crowd c = {.minus = e - ONE + 2, .plus = e + ONE};
    whole least = product_of(c.plus + 2, log); // 2^(40 + 58) (E + 1) ln(2/delta), of which 8 times are asked for
    c.least = ((uint64_t)least.word[3] << 1 | least.word[2] >> 31) + 1;
    c.log = ((log + LN_2) >> (58 - 5 - SHOAL_EXPONENTIAL_BITS)) + 1;
    return c;
}

// (*), and the condition.
//   d: e^epsilon - 1, low, in units of u
static int is_enough(const crowd *c, uint64_t n, uint64_t d)
{
    whole rest = product_of(d, n), four = product_of(c->minus, 4), left = product_of(c->log, n);
    if (n < c->least || subtract(&rest, &four)) return 0;
    four = rest;
    multiply_whole(&rest, &four);
    multiply(&rest, c->plus);
    multiply(&left, c->minus);
    multiply(&left, c->minus);
    return !subtract(&rest, &left);
}

shoal_err shoal_central_epsilon(uint32_t *eps_micro, uint32_t eps0_micro, uint64_t n, uint32_t delta_exp)
{
    if (!is_in_range(eps0_micro, delta_exp) || n < 1 || n > SHOAL_COHORT_MAX) return SHOAL_ERR_RANGE;
    crowd c = crowd_of(eps0_micro, delta_exp);
    uint32_t low = 1, high = eps0_micro; // high is a guarantee
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (is_enough(&c, n, shoal_exponential(middle) - ONE))
            high = middle;
        else
            low = middle + 1;
    }
    *eps_micro = high;
    return SHOAL_OK;
}

shoal_err shoal_central_cohort(uint64_t *n, uint32_t eps0_micro, uint32_t eps_micro, uint32_t delta_exp)
{
    if (!is_in_range(eps0_micro, delta_exp) || eps_micro < 1) return SHOAL_ERR_RANGE;
    uint64_t low = 1, high = 1;
    if (eps_micro < eps0_micro) {
        crowd c = crowd_of(eps0_micro, delta_exp);
        uint64_t d = shoal_exponential(eps_micro) - ONE;
        high = SHOAL_COHORT_MAX;
        if (!is_enough(&c, high, d)) return SHOAL_ERR_RANGE;
        while (low < high) {
            uint64_t middle = low + (high - low) / 2;
            if (is_enough(&c, middle, d))
                high = middle;
            else
                low = middle + 1;
        }
    }
    *n = high;
    return SHOAL_OK;
}
