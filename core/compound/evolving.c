// SPDX-License-Identifier: Apache-2.0
// A run's figures in integers; see evolving.h. The file depends on no clock, no memory and no
// floating point.
//
// Logarithms are in units of 2^-40. Roots are found by comparing squares: r is the smallest number
// with r^2 over >= ln times, in exact products (whole.h). Sizes: ln(16 w n T/delta) < 2.8 + 11.1 +
// 20.8 + 11.1 + 34.6 < 2^7, so a logarithm is below 2^47; n, l and L are at most 10^9 < 2^30 (n of
// update_votes 10^12 < 2^40).
//
// Error of a: R <= sqrt(10^9 81/2) < 2^18 is in units of 2^-20. Assumption 4.2 implies R > 55 (L <=
// n gives n > 121 ln(12 m T/delta)/2 > 605). One unit is therefore 2e-8 of R, and at most 1.4 times
// that of a.
// Error of b: s and h lie between 2^-13.2 and 2^3 in units of 2^-48. For b <= 16, log(T) h - s is
// at least s/8, so the 2^-40 that the quotient cuts off is 1e-7 of it.
#include "evolving.h"

#include <stdbool.h>

#include "bytes.h"
#include "compound.h"
#include "probability.h"
#include "whole.h"

#define LOG_BITS 40
#define ROOT_BITS 20 // fraction bits of R
#define USERS_MAX 1000000000u

// Returns: floor(a b / 2^64).
static uint64_t multiply_high(uint64_t a, uint64_t b)
{
    whole product = whole_product(a, b, 1);
    return whole_words(&product, 2);
}

// Returns: log2 of x >= 1 in units of 2^-40, at most one unit too low, exact for powers of two.
// Squaring y, which is in [1, 2), doubles its logarithm; the next bit is whether y reaches 2.
// Squaring cuts off 2^-62 of y, which weighs less with every bit.
static uint64_t log2_low(uint32_t x)
{
    uint32_t shift = 0;
    while (x >> shift > 1) shift++;
    uint64_t y = (uint64_t)x << (63 - shift), log = shift; // y/2^63
    for (int i = 0; i < LOG_BITS; i++) {
        y = multiply_high(y, y);
        uint64_t reaches = y >> 63;
        y <<= 1 - reaches;
        log = log << 1 | reaches;
    }
    return log;
}

// Returns: ln of x in units of 2^-40, too high by less than 4 units.
static uint64_t ln_high(uint32_t x)
{
    return x == 1 ? 0 : multiply_high((log2_low(x) + 2) << 6, LN_2_58) + 1;
}

// Returns: ln(factors... / delta), too high by less than 2^-35.
static uint64_t ln_over_delta(const uint32_t factors[4], uint32_t delta_exp)
{
    uint64_t log = (delta_exp * LN_10_58 >> (58 - LOG_BITS)) + 1;
    for (int i = 0; i < 4; i++) log += ln_high(factors[i]);
    return log;
}

// Returns: sqrt(ln times / over) in units of 2^-bits, rounded up.
//   bits: 20 .. 48
static uint64_t root(uint64_t ln, uint64_t times, uint64_t over, uint32_t bits)
{
    whole square = whole_product(ln, times, (uint64_t)1 << (2 * bits - LOG_BITS));
    uint64_t below = 0; // the largest number found below the root
    for (int bit = 62; bit >= 0; bit--) {
        uint64_t r = below | (uint64_t)1 << bit;
        whole own = whole_product(r, r, over);
        if (whole_less(&own, &square)) below = r;
    }
    return below + 1;
}

static uint32_t floor_log2(uint32_t x)
{
    uint32_t log = 0;
    while (x >> log > 1) log++;
    return log;
}

static uint64_t ln_of_groups(const shoal_evolving_plan *plan)
{
    return ln_over_delta((uint32_t[4]){12, plan->groups, plan->epochs, 1}, plan->delta_exp);
}

static uint64_t ln_of_users(const shoal_evolving_plan *plan)
{
    return plan->projection == 0
               ? ln_over_delta((uint32_t[4]){12, plan->users, plan->epochs, 1}, plan->delta_exp)
               : ln_over_delta((uint32_t[4]){16, plan->users, plan->epochs, plan->projection},
                               plan->delta_exp);
}

// Checks Assumption 4.2: 2 L^2 > 121 n ln.
static bool is_large_enough(uint64_t smallest_group, uint64_t users, uint64_t ln)
{
    whole left = whole_product(smallest_group, smallest_group, (uint64_t)2 << LOG_BITS);
    whole right = whole_product(users, ln, 121);
    return whole_less(&right, &left);
}

void shoal_evolving_needs(uint64_t *smallest_group, uint64_t *users,
                          const shoal_evolving_plan *plan)
{
    uint64_t ln = ln_of_groups(plan), low = 1, high = (uint64_t)1 << 40;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (is_large_enough(middle, plan->users, ln))
            high = middle;
        else
            low = middle + 1;
    }
    *smallest_group = high;
    // With n = m L the condition is 2 L > 121 m ln.
    whole twice = whole_product(121, plan->groups, ln);
    uint64_t each = (whole_words(&twice, 1) >> (LOG_BITS + 1 - 32)) + 1;
    *users = twice.word[3] == 0 && each <= USERS_MAX / plan->groups ? each * plan->groups : 0;
}

static uint32_t at_least_smallest(uint64_t micro)
{
    return micro < SHOAL_EPS_MICRO_MIN ? SHOAL_EPS_MICRO_MIN : (uint32_t)micro;
}

// Returns: a, below 1.
static uint32_t vote_epsilon(const shoal_evolving_plan *plan)
{
    uint64_t r = root(ln_of_groups(plan), plan->users, 2, ROOT_BITS);
    uint64_t rest = ((uint64_t)plan->smallest_group << ROOT_BITS) - 3 * r;
    return at_least_smallest((8000000 * r + rest - 1) / rest);
}

// Returns: b of thresh, or 0 if there is no b.
static uint32_t estimate_epsilon(const shoal_evolving_plan *plan)
{
    uint64_t ln = ln_over_delta((uint32_t[4]){12, plan->epochs, 1, 1}, plan->delta_exp);
    uint64_t s = root(ln, 1, 2 * (uint64_t)plan->users, 48);
    uint64_t h = root(ln_of_users(plan), 1, 2 * (uint64_t)plan->samples, 48);
    uint64_t wide =
        multiply_high(log2_low(plan->epochs) << 18, h << 6); // 2^40 2^18 2^48 2^6 / 2^64 = 2^48
    if (wide <= s || (wide - s) >> 8 == 0) return 0;
    uint64_t rest = (wide - s) >> 8, micro = (2000000 * ((s >> 8) + 1) + rest - 1) / rest;
    return micro > SHOAL_EPS_MICRO_MAX ? 0 : at_least_smallest(micro);
}

// Returns: tau.
static uint64_t step_of(const shoal_evolving_plan *plan)
{
    return root(ln_of_users(plan), 2, plan->samples, SHOAL_EVOLVING_STEP_BITS);
}

// Computes the figures from epsilon, a, b, T and tau.
static shoal_evolving figures_of(const shoal_evolving_plan *plan, uint32_t vote_micro,
                                 uint32_t estimate_micro)
{
    shoal_evolving f = {.eps_micro = plan->eps_micro,
                        .vote_micro = vote_micro,
                        .estimate_micro = estimate_micro,
                        .n_votes = plan->eps_micro / (4 * vote_micro),
                        .n_estimates = plan->eps_micro / (2 * estimate_micro),
                        .epochs = plan->epochs,
                        .levels = floor_log2(plan->epochs),
                        .step = step_of(plan)};
    f.cost_micro = 2 * f.n_votes * vote_micro + f.n_estimates * estimate_micro;
    return f;
}

static bool is_between(uint32_t x, uint32_t low, uint32_t high)
{
    return x >= low && x <= high;
}

// Returns: whether the plan's numbers are in their ranges.
static bool is_in_range(const shoal_evolving_plan *plan, const char **field)
{
    uint32_t w = plan->projection;
    *field = "epsilon";
    if (!is_between(plan->eps_micro, SHOAL_EPS_MICRO_MIN, SHOAL_EPS_MICRO_MAX)) return false;
    *field = "users";
    if (!is_between(plan->users, 1, USERS_MAX)) return false;
    *field = "epochs";
    if (!is_between(plan->epochs, 2, SHOAL_EPOCHS_MAX)) return false;
    *field = "samples";
    if (!is_between(plan->samples, 1, USERS_MAX)) return false;
    *field = "groups";
    if (!is_between(plan->groups, 1, plan->users)) return false;
    *field = "smallest_group";
    if (!is_between(plan->smallest_group, 1, plan->users / plan->groups)) return false;
    *field = "delta";
    if (!is_between(plan->delta_exp, 3, 15)) return false;
    *field = "projection";
    if (w != 0 && (!is_between(w, 64, 65536) || (w & (w - 1)) != 0)) return false;
    *field = "epsilon_estimate";
    return w == 0 || is_between(plan->eps_estimate_micro, SHOAL_EPS_MICRO_MIN, SHOAL_EPS_MICRO_MAX);
}

shoal_err shoal_evolving_figures(shoal_evolving *figures, const char **field,
                                 const shoal_evolving_plan *plan)
{
    if (!is_in_range(plan, field)) return SHOAL_ERR_RANGE;
    *field = "smallest_group";
    if (!is_large_enough(plan->smallest_group, plan->users, ln_of_groups(plan)))
        return SHOAL_ERR_RANGE;
    *field = "samples";
    uint32_t estimate_micro =
        plan->projection == 0 ? estimate_epsilon(plan) : plan->eps_estimate_micro;
    if (estimate_micro == 0) return SHOAL_ERR_RANGE;
    shoal_evolving f = figures_of(plan, vote_epsilon(plan), estimate_micro);
    *field = f.n_votes > 0 && plan->projection != 0 ? "epsilon_estimate" : "epsilon";
    if (f.n_votes == 0 || f.n_estimates == 0) return SHOAL_ERR_RANGE;
    *figures = f;
    return SHOAL_OK;
}

uint64_t shoal_evolving_update_votes(const shoal_evolving_plan *plan, uint64_t vote_threshold,
                                     uint64_t n)
{
    uint64_t ln = ln_over_delta((uint32_t[4]){10, plan->epochs, 1, 1}, plan->delta_exp);
    whole false_votes =
        whole_product(vote_threshold, n,
                      1 << ROOT_BITS); // mean yes-votes if no device saw a change; times 2^84
    return ((whole_words(&false_votes, 2) + 1 + root(ln, n, 2, ROOT_BITS)) >> ROOT_BITS) + 1;
}

// ---- recipes ----

shoal_evolving_plan shoal_evolving_stated(const shoal_recipe *recipe)
{
    shoal_evolving_plan plan = {.eps_micro = recipe->eps_micro,
                                .users = recipe->users,
                                .samples = recipe->samples,
                                .epochs = recipe->epochs,
                                .smallest_group = recipe->smallest_group,
                                .groups = recipe->groups,
                                .delta_exp = recipe->delta_exp,
                                .eps_estimate_micro = recipe->eps_estimate_micro};
    if (recipe->eps_estimate_micro != 0)
        plan.projection = recipe->projection; // only heavythresh states it
    return plan;
}

shoal_evolving shoal_evolving_of(const shoal_recipe *recipe)
{
    shoal_evolving_plan plan = shoal_evolving_stated(recipe);
    return figures_of(&plan, recipe->parts[SHOAL_EVOLVING_VOTE].eps_micro,
                      recipe->parts[SHOAL_EVOLVING_ESTIMATE].eps_micro);
}

shoal_err shoal_evolving_expand(shoal_recipe *recipe, uint32_t rows, const char **field)
{
    shoal_evolving_plan plan = shoal_evolving_stated(recipe);
    shoal_part *vote = &recipe->parts[SHOAL_EVOLVING_VOTE],
               *estimate = &recipe->parts[SHOAL_EVOLVING_ESTIMATE];
    shoal_evolving figures;
    shoal_err err = shoal_evolving_figures(&figures, field, &plan);
    if (err != SHOAL_OK) return err;
    memset(vote, 0, sizeof *vote);
    vote->mechanism = shoal_one_bit_mean_id;
    vote->domain = SHOAL_DOMAIN_NUMBER;
    memcpy(vote->seed, recipe->seed, sizeof vote->seed);
    *estimate = *vote;
    vote->eps_micro = figures.vote_micro;
    estimate->eps_micro = figures.estimate_micro;
    estimate->k = rows;
    err = shoal_part_prepare(vote, field);
    if (err == SHOAL_OK) err = shoal_part_prepare(estimate, field);
    if (err != SHOAL_OK) return err;
    recipe->n_parts = 2;
    recipe->value_part = SHOAL_EVOLVING_ESTIMATE;
    return SHOAL_OK;
}
