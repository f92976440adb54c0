// SPDX-License-Identifier: Apache-2.0
// The closed form of Theorem 3.1, decided in integers; see central.h.
//
// The code needs no logarithm and no root. With E = e^eps0 and d = e^epsilon - 1, "the closed form
// is at most epsilon" reads
//
//     (E - 1) (sqrt(32 ln(4/delta) / ((E + 1) n)) + 4/n) <= d
//     32 ln(4/delta) (E - 1)^2 <= (E + 1) (d - t)^2 n    and    t <= d,    t = 4 (E - 1)/n  (*)
//
// and products of integers are exact. Only the inputs are rounded, each against the analyst. The
// unit is u = 2^-40; D(x) is shoal_exponential's lower bound, D(x) <= e^x < D(x) + 2u:
//
//     d      D(epsilon) - 1             low by less than 2u
//     E - 1  D(eps0) - 1 + 2u           high by at most 2u
//     E + 1  D(eps0) + 1                low by less than 2u
//     t      4 (floor((E - 1)/n) + u)   high by at most 4u, plus the error of E - 1
//     ln     2 ln 2 + K ln 10           high by less than (2 + K) 2^-58; 32 ln in units of u is
//                                       high by one u more
//
// So (*) as computed implies (*): the guarantee that is found holds.
//
// The bound is tight. The condition is decided first, and where it holds y = sqrt(32
// ln(4/delta)/((E + 1) n)) + 4/n is below 1.1: n >= 8 ln(2/delta) (E + 1) gives 4/n < 1/30 and a
// root below 2 sqrt(ln(4/delta)/ln(2/delta))/(E + 1) < 1.05. The errors of E - 1, E + 1, ln and t
// raise (E - 1) y by less than 2.2u + u + u/100 + 4u, and d is low by 2u. The derivative of d by
// epsilon is e^epsilon > 1, so epsilon is high by less than 10u < 2^-36, which is below 2^-16 of a
// micro-unit. The guarantee is the least whole micro-unit for which (*) holds.
//
// Both searches bisect, which needs (*) to be monotone. In epsilon: D rises by a million units from
// one micro-unit to the next. In n: t as computed never rises, so (d - t)^2 n rises. In eps0: (E -
// 1)^2/(E + 1) and t rise with D. In delta: ln rises. All of this is about the rounded numbers, on
// which (*) is evaluated exactly, so it holds for the computed condition and not only for the ideal
// one.
//
// The condition eps0 <= ln(n/(8 ln(2/delta)) - 1) is n >= 8 ln(2/delta) (E + 1). The least such n,
// from E + 1 and ln rounded up, is high by less than 2^-26 before it is rounded up to a whole
// number.
//
// Sizes: e^x < 2^23.1, so d, E - 1 and E + 1 are below 2^64 units, and n < 2^40: the right side is
// below 2^64 2^128 2^40 = 2^232, the left below 2^52 2^128 = 2^180. Eight words hold both.
#include "central.h"

#include <stdbool.h>

#include "exponential.h"
#include "probability.h"
#include "whole.h"

#define ONE ((uint64_t)1 << SHOAL_EXPONENTIAL_BITS)

// The quantities that do not depend on n and epsilon, in units of u.
typedef struct crowd {
    uint64_t minus, plus; // E - 1, rounded up; E + 1, rounded down
    uint64_t log;         // 32 ln(4/delta), rounded up
    uint64_t least;       // the smallest n for which the condition holds
} crowd;

static bool is_in_range(uint32_t eps0_micro, uint32_t delta_exp)
{
    return eps0_micro >= 1 && eps0_micro <= SHOAL_EPS_MICRO_MAX &&
           delta_exp >= SHOAL_DELTA_EXP_MIN && delta_exp <= SHOAL_DELTA_EXP_MAX;
}

static crowd crowd_of(uint32_t eps0_micro, uint32_t delta_exp)
{
    uint64_t e = shoal_exponential(eps0_micro), log = LN_2_58 + delta_exp * LN_10_58; // ln(2/delta)
    crowd c = {.minus = e - ONE + 2, .plus = e + ONE};
    // 2^98 (E + 1) ln(2/delta); the condition needs 8 times that.
    whole least = whole_product(c.plus + 2, log, 1);
    c.least = ((uint64_t)least.word[3] << 1 | least.word[2] >> 31) + 1;
    c.log = ((log + LN_2_58) >> (58 - 5 - SHOAL_EXPONENTIAL_BITS)) + 1;
    return c;
}

// Returns: whether (*) and the condition hold.
//   d: e^epsilon - 1, rounded down, in units of u
static bool is_enough(const crowd *c, uint64_t n, uint64_t d)
{
    if (n < c->least) return false;
    uint64_t tail = 4 * (c->minus / n + 1); // t; least is above 100, so 4 times a share fits
    if (d < tail) return false;
    whole left = whole_product(c->log, c->minus, c->minus),
          right = whole_product(n, d - tail, d - tail);
    whole_multiply(&right, c->plus);
    return !whole_less(&right, &left);
}

shoal_err shoal_central_epsilon(uint32_t *eps_micro, uint32_t eps0_micro, uint64_t n,
                                uint32_t delta_exp)
{
    if (!is_in_range(eps0_micro, delta_exp) || n < 1 || n > SHOAL_COHORT_MAX)
        return SHOAL_ERR_RANGE;
    crowd c = crowd_of(eps0_micro, delta_exp);
    uint32_t low = 1, high = eps0_micro; // high always is a guarantee
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

shoal_err shoal_central_cohort(uint64_t *n, uint32_t eps0_micro, uint32_t eps_micro,
                               uint32_t delta_exp)
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
