// SPDX-License-Identifier: Apache-2.0
// Thresholds: exact against a table made with 90 digits, monotone, inverted with rounding up,
// refused out of range.
#include "probability.h"

#include <math.h>

#include "check.h"
#include "odds_table.h"
#include "threshold_table.h"

#define N_TABLE (sizeof threshold_table / sizeof threshold_table[0])

static void matches_table(void)
{
    for (uint32_t i = 0; i < N_TABLE; i++) {
        uint64_t one = 0, half = 0;
        CHECK(shoal_threshold(&one, threshold_table[i].eps_micro, 1) == SHOAL_OK);
        CHECK(shoal_threshold(&half, threshold_table[i].eps_micro, 2) == SHOAL_OK);
        CHECK(one == threshold_table[i].one);
        CHECK(half == threshold_table[i].half);
    }
}

// The inverse is the smallest epsilon that covers the threshold, and one step less noise is no
// longer covered.
static void inverse_rounds_up(void)
{
    for (uint32_t i = 0; i < N_TABLE; i++) {
        uint32_t eps = threshold_table[i].eps_micro, back = 0;
        CHECK(shoal_threshold_epsilon(&back, threshold_table[i].one, 1) == SHOAL_OK && back == eps);
        CHECK(shoal_threshold_epsilon(&back, threshold_table[i].half, 2) == SHOAL_OK &&
              back == eps);
        if (eps == SHOAL_EPS_MICRO_MAX) continue;
        CHECK(shoal_threshold_epsilon(&back, threshold_table[i].one - 1, 1) == SHOAL_OK &&
              back == eps + 1);
        CHECK(shoal_threshold_epsilon(&back, threshold_table[i].half - 1, 2) == SHOAL_OK &&
              back == eps + 1);
    }
}

// Odds with weights: the table, and an inverse that rounds up and gives back what went in.
static void weighted_odds(void)
{
    for (uint32_t i = 0; i < sizeof odds_table / sizeof odds_table[0]; i++) {
        uint32_t eps = odds_table[i].eps_micro, a = odds_table[i].a, b = odds_table[i].b, back = 0;
        uint64_t t = 0;
        CHECK(shoal_threshold_odds(&t, eps, a, b) == SHOAL_OK && t == odds_table[i].threshold);
        if (t < 1u << 24) { // so rare that neighbouring epsilons share a threshold: the smallest of
                            // them is enough
            CHECK(shoal_threshold_odds_epsilon(&back, t, a, b) == SHOAL_OK && back <= eps &&
                  back > eps - 100);
            continue;
        }
        CHECK(shoal_threshold_odds_epsilon(&back, t, a, b) == SHOAL_OK && back == eps);
        if (eps < SHOAL_EPS_MICRO_MAX)
            CHECK(shoal_threshold_odds_epsilon(&back, t - 1, a, b) == SHOAL_OK && back == eps + 1);
        else
            CHECK(shoal_threshold_odds_epsilon(&back, t - 1, a, b) == SHOAL_ERR_RANGE);
    }
    uint64_t t = 42, plain = 0;
    CHECK(shoal_threshold_odds(&t, 1000000, 0, 1) == SHOAL_ERR_RANGE);
    CHECK(shoal_threshold_odds(&t, 1000000, 1, 0) == SHOAL_ERR_RANGE);
    CHECK(shoal_threshold_odds(&t, 1000000, (1u << 25) + 1, 1) == SHOAL_ERR_RANGE);
    CHECK(shoal_threshold_odds(&t, 1000000, 1, (1u << 25) + 1) == SHOAL_ERR_RANGE);
    CHECK(shoal_threshold_odds(&t, SHOAL_EPS_MICRO_MAX + 1, 1, 1) == SHOAL_ERR_RANGE && t == 42);
    CHECK(shoal_threshold_odds(&t, 3000000, 1, 1) == SHOAL_OK &&
          shoal_threshold(&plain, 3000000, 1) == SHOAL_OK);
    CHECK(t == plain);
}

static void is_monotone(void)
{
    uint64_t last = (uint64_t)1 << 63;
    for (uint32_t eps = SHOAL_EPS_MICRO_MIN; eps <= SHOAL_EPS_MICRO_MAX; eps += 9973) {
        uint64_t t = 0;
        CHECK(shoal_threshold(&t, eps, 1) == SHOAL_OK && t < last);
        last = t;
    }
}

// The odds really drawn, as a double: within 1e-12 of e^eps, so no noise is wasted.
static void wastes_nothing(void)
{
    for (uint32_t i = 0; i < N_TABLE; i++) {
        double t = (double)threshold_table[i].one, eps = threshold_table[i].eps_micro / 1e6;
        CHECK(fabs(log((18446744073709551616.0 - t) / t) - eps) < 1e-12 * (1 + eps));
    }
}

static void ranges(void)
{
    uint64_t t = 42;
    uint32_t eps = 43;
    CHECK(shoal_threshold(&t, 0, 1) == SHOAL_ERR_RANGE);
    CHECK(shoal_threshold(&t, SHOAL_EPS_MICRO_MIN - 1, 1) == SHOAL_ERR_RANGE);
    CHECK(shoal_threshold(&t, SHOAL_EPS_MICRO_MAX + 1, 1) == SHOAL_ERR_RANGE);
    CHECK(shoal_threshold(&t, 1000000, 0) == SHOAL_ERR_RANGE);
    CHECK(shoal_threshold(&t, 1000000, 3) == SHOAL_ERR_RANGE);
    CHECK(t == 42);
    CHECK(shoal_threshold_epsilon(&eps, 0, 1) == SHOAL_ERR_RANGE);
    CHECK(shoal_threshold_epsilon(&eps, ((uint64_t)1 << 63) + 1, 1) == SHOAL_ERR_RANGE);
    CHECK(eps == 43);
    CHECK(shoal_threshold_epsilon(&eps, (uint64_t)1 << 63, 1) == SHOAL_OK &&
          eps == SHOAL_EPS_MICRO_MIN);
}

int main(void)
{
    matches_table();
    inverse_rounds_up();
    weighted_odds();
    is_monotone();
    wastes_nothing();
    ranges();
    return check_summary();
}
