// SPDX-License-Identifier: Apache-2.0
// Recipes of a run over epochs, and the law of all that a device sends in one, for the tests of
// thresh and heavythresh.
//
// Given data and a server, what a device tosses are independent coins: the law of a whole
// transcript is their product. So of two data sets the largest log-ratio over all transcripts is
// the sum of the coins' largest. Servers that choose as they go are covered: a transcript comes of
// one pattern of theirs, and all patterns are enumerated.
#ifndef TEST_RUNS_H
#define TEST_RUNS_H

#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "epoch.h"
#include "probability.h"
#include "test_recipes.h"

// ---- recipes ----

// What a recipe of a run states of its plan; of heavythresh where eps_estimate_micro is not 0.
static inline shoal_err set_plan(const shoal_evolving_plan *p)
{
    int is_heavy = p->eps_estimate_micro != 0;
    shoal_err err =
        start_any_recipe(is_heavy ? "heavythresh" : "thresh", is_heavy ? "item" : "number");
    if (err == SHOAL_OK) err = set_micro("parameters.epsilon", p->eps_micro);
    if (err == SHOAL_OK) err = set_int("parameters.users", p->users);
    if (err == SHOAL_OK) err = set_int("parameters.epochs", p->epochs);
    if (err == SHOAL_OK) err = set_int("parameters.samples", p->samples);
    if (err == SHOAL_OK) err = set_int("parameters.smallest_group", p->smallest_group);
    if (err == SHOAL_OK) err = set_int("parameters.groups", p->groups);
    if (err == SHOAL_OK) err = set_text("parameters.delta", p->delta_exp == 6 ? "1e-6" : "1e-15");
    if (err == SHOAL_OK && !is_heavy) err = set_int("parameters.low", 0);
    if (err == SHOAL_OK && !is_heavy) err = set_int("parameters.high", 1);
    if (err == SHOAL_OK && is_heavy) err = set_text("seed", TEST_SEED);
    if (err == SHOAL_OK && is_heavy) err = set_int("parameters.projection", p->projection);
    if (err == SHOAL_OK && is_heavy)
        err = set_micro("parameters.epsilon_estimate", p->eps_estimate_micro);
    return err;
}

// The finished recipe of an epoch, after `before` (NULL: after none that the test knows).
static inline shoal_err epoch_recipe(shoal_recipe *recipe, const shoal_evolving_plan *p,
                                     uint32_t index, uint32_t is_update, const shoal_recipe *before)
{
    char previous[65];
    for (int i = 0; i < 32; i++)
        snprintf(previous + 2 * i, 3, "%02x", before != NULL ? before->query_hash[i] : 7u);
    shoal_err err = set_plan(p);
    if (err == SHOAL_OK) err = set_int("round.index", index);
    if (err == SHOAL_OK && index > 1) err = set_text("round.previous", previous);
    if (err == SHOAL_OK && is_update) err = set_int("round.update", 1);
    return end_recipe(recipe, err);
}

// ---- laws ----

#define COINS_MAX 16

// The chances of a 1 of all coins of a run.
typedef struct run_law {
    uint32_t n;
    double one[COINS_MAX];
} run_law;

// As one_bit_mean.h has it: u (1 - q) + (1 - u) q.
static inline void law_toss(run_law *law, uint64_t item, uint64_t threshold)
{
    double u = (double)item / 4294967296.0, q = (double)threshold / 18446744073709551616.0;
    law->one[law->n++] = u * (1 - q) + (1 - u) * q;
}

static inline double coin_ratio(double a, double b)
{
    double one = log(a / b), none = log((1 - a) / (1 - b));
    return one > none ? one : none;
}

// The largest ln(P(transcript | a)/P(transcript | b)) over all transcripts.
static inline double run_loss(const run_law *a, const run_law *b)
{
    double loss = 0;
    for (uint32_t i = 0; i < a->n; i++) loss += coin_ratio(a->one[i], b->one[i]);
    return loss;
}

// The same, transcript by transcript.
static inline double run_loss_enumerated(const run_law *a, const run_law *b)
{
    double largest = -1;
    for (uint32_t transcript = 0; transcript < 1u << a->n; transcript++) {
        double of_a = 1, of_b = 1;
        for (uint32_t i = 0; i < a->n; i++) {
            of_a *= transcript >> i & 1 ? a->one[i] : 1 - a->one[i];
            of_b *= transcript >> i & 1 ? b->one[i] : 1 - b->one[i];
        }
        largest = fmax(largest, log(of_a / of_b));
    }
    return largest;
}

static inline int law_equal(const run_law *a, const run_law *b)
{
    for (uint32_t i = 0; i < a->n; i++)
        if (fabs(a->one[i] - b->one[i]) > 1e-15) return 0;
    return a->n == b->n;
}

// Adds a law to those that differ.
static inline void law_keep(run_law *laws, uint32_t *n, uint32_t cap, const run_law *law)
{
    for (uint32_t i = 0; i < *n; i++)
        if (law_equal(&laws[i], law)) return;
    if (CHECK(*n < cap)) laws[(*n)++] = *law;
}

// The largest loss of any two; where `is_enumerated`, transcript by transcript.
static inline double largest_loss(const run_law *laws, uint32_t n, int is_enumerated)
{
    double largest = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            double loss = run_loss(&laws[i], &laws[j]);
            if (is_enumerated) CHECK(fabs(run_loss_enumerated(&laws[i], &laws[j]) - loss) < 1e-9);
            largest = fmax(largest, loss);
        }
    return largest;
}

// A run's figures given directly, so that caps bind within a few epochs. `step` in 1/100 of the
// range.
static inline shoal_evolving make_run(uint32_t epochs, uint32_t eps_micro, uint32_t vote_micro,
                                      uint32_t estimate_micro, uint32_t step)
{
    shoal_evolving run = {.eps_micro = eps_micro,
                          .vote_micro = vote_micro,
                          .estimate_micro = estimate_micro,
                          .n_votes = eps_micro / (4 * vote_micro),
                          .n_estimates = eps_micro / (2 * estimate_micro),
                          .epochs = epochs,
                          .step = step * (((uint64_t)1 << SHOAL_EVOLVING_STEP_BITS) / 100)};
    while (epochs >> run.levels > 1) run.levels++;
    return run;
}

// ln of what a coin of that epsilon really does: below it by what probability.h says.
static inline double drawn(uint32_t eps_micro)
{
    uint64_t threshold = 0;
    CHECK(shoal_threshold(&threshold, eps_micro, 1) == SHOAL_OK);
    double q = (double)threshold / 18446744073709551616.0;
    return log((1 - q) / q);
}

// What a server does about each index 1 .. T + 1.
enum { SERVER_SKIPS = 0, SERVER_ASKS = 1, SERVER_UPDATES = 2 };

#endif
