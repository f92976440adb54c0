// SPDX-License-Identifier: Apache-2.0
// Searches epsilon for every mechanism; see central_plan.h. No mechanism is named here.
#include "central_plan.h"

#include <math.h>

#include "amplification.h"
#include "guarantee.h"
#include "probability.h"

#define STEPS 14 // halvings of the logarithm of epsilon: to a thousandth

// Returns: delta of Gaussian noise at epsilon. Both tails are far where delta is small, and erfc
// keeps their precision.
static double gaussian_delta(double epsilon, double ratio)
{
    double shift = 1 / (2 * ratio), far = epsilon * ratio;
    return erfc((far - shift) / sqrt(2)) / 2 - exp(epsilon) * erfc((far + shift) / sqrt(2)) / 2;
}

double agg_gaussian_noise(double epsilon, double delta, double sensitivity)
{
    double low = 1e-6, high = 1e9; // in sensitivities; delta falls with the noise
    for (int i = 0; i < 200 && high > low * (1 + 1e-9); i++) {
        double middle = sqrt(low * high);
        *(gaussian_delta(epsilon, middle) <= delta ? &high : &low) = middle;
    }
    return high * sensitivity;
}

double agg_laplace_noise(double epsilon, double sensitivity)
{
    double rate = epsilon / sensitivity; // the probability of y is in proportion to e^(-rate |y|)
    return sqrt(2 * exp(-rate)) / -expm1(-rate);
}

// Sets *kept to whether the part keeps the promise.
static agg_err is_kept(bool *kept, agg_error *error, const shoal_part *part,
                       const agg_central_promise *promise)
{
    agg_pair_law law;
    double local = part->eps_micro / 1e6;
    const agg_account *account = agg_account_of(part->mechanism);
    agg_pair_law_of_part(&law, part);
    const agg_crowd crowd = {local, promise->reports, promise->delta, 1, &law};
    *kept = local <= promise->epsilon;
    if (*kept) return SHOAL_OK;
    agg_err err = agg_crowd_keeps(
        kept, error, &crowd, law.n > 0 ? AGG_BOUND_BLANKET : AGG_BOUND_STRONGER, promise->epsilon);
    if (err == SHOAL_OK && !*kept && account->central != NULL)
        *kept = account->central(local, promise->reports, promise->delta) <= promise->epsilon;
    return err;
}

// Finds one mechanism's best candidate at the largest epsilon that keeps the promise. The error
// falls with epsilon, so bounds are computed only where it is below the limit.
// Returns: with best->mechanism NULL where no error is below the limit.
static agg_err best_of(agg_plan_candidate *best, agg_error *error, const agg_plan_wish *wish,
                       const agg_central_promise *promise, double limit)
{
    agg_plan_wish own = *wish;
    double low = log(SHOAL_EPS_MICRO_MIN), high = log(wish->eps_micro);
    agg_err err = SHOAL_OK;
    best->mechanism = NULL;
    for (int i = 0; i < STEPS && err == SHOAL_OK; i++) {
        agg_plan_candidate found = {.mechanism = NULL};
        double middle = i == 0 ? high : low + (high - low) / 2;
        bool kept = false;
        own.eps_micro = i == 0 ? wish->eps_micro : (uint32_t)exp(middle);
        err = agg_plan_best(&found, error, &own);
        if (err != SHOAL_OK) return err;
        bool is_better = found.mechanism != NULL && found.error < limit;
        if (is_better) err = is_kept(&kept, error, &found.part, promise);
        if (kept) *best = found;
        if (i == 0 && (kept || !is_better)) return err; // no epsilon may be larger
        *(kept || !is_better ? &low : &high) = middle;
    }
    return err;
}

static void set_trusted(agg_central_promise *promise, const agg_plan_wish *wish)
{
    if (wish->is_mean) {
        double n = agg_plan_reports(wish);
        promise->laplace = sqrt(2) / promise->epsilon / n; // a number moves the sum by one range
        promise->gaussian = agg_gaussian_noise(promise->epsilon, promise->delta, 1) / n;
        return;
    }
    promise->laplace = agg_laplace_noise(promise->epsilon, 2); // a value moves two counts by one
    promise->gaussian = agg_gaussian_noise(promise->epsilon, promise->delta, sqrt(2));
}

// Improves on `best` by the mechanisms that have a bound of their own, which takes long to compute,
// or by all others.
static agg_err improve(agg_plan_candidate *best, agg_error *error, const agg_plan_wish *wish,
                       const agg_central_promise *promise, bool has_own_bound)
{
    const agg_account *account = NULL;
    agg_plan_wish own = *wish;
    agg_err err = SHOAL_OK;
    if (own.eps_micro == 0) own.eps_micro = SHOAL_EPS_MICRO_MAX;
    for (uint32_t i = 0; err == SHOAL_OK && (account = agg_account_at(i)) != NULL; i++) {
        agg_plan_candidate found;
        if (shoal_mechanism_by_id(account->id)->is_permanent ||
            (account->central != NULL) != has_own_bound ||
            (wish->mechanism != 0 && wish->mechanism != account->id))
            continue;
        own.mechanism = account->id;
        double limit = best->mechanism != NULL ? best->error : INFINITY;
        err = best_of(&found, error, &own, promise, limit);
        if (err == SHOAL_OK && found.mechanism != NULL) *best = found;
    }
    return err;
}

agg_err agg_central_plan_choose(agg_plan_wish *wish, agg_central_promise *promise, agg_error *error)
{
    agg_plan_candidate best = {.mechanism = NULL};
    agg_err err = improve(&best, error, wish, promise, false);
    if (err == SHOAL_OK) err = improve(&best, error, wish, promise, true);
    if (err != SHOAL_OK) return err;
    if (best.mechanism == NULL)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "no mechanism makes this plan under a central epsilon of %g",
                        promise->epsilon);
    wish->mechanism = best.part.mechanism;
    wish->eps_micro = best.part.eps_micro;
    set_trusted(promise, wish);
    return SHOAL_OK;
}
