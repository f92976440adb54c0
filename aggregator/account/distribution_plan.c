// SPDX-License-Identifier: Apache-2.0
// Chooses how to ask for a distribution; see distribution_plan.h.
#include "distribution_plan.h"

#include <math.h>
#include <stdlib.h>

#include "account.h"
#include "agg_parallel.h"
#include "agg_size.h"
#include "estimator.h"
#include "plan.h"
#include "split_tail.h"

#define CELLS_MAX 268435456.0 // of a sketch

// ---- supposed crowds ----

static double below_skewed(double x)
{
    return x > 0 ? 1 - agg_normal_tail(log(60 * x) / 1.5) : 0;
}

static double below_hump(double x)
{
    return pow(x, 5) * (6 - 5 * x);
}

static double below_humps(double x)
{
    return 1 - 0.6 * agg_normal_tail((x - 0.25) / 0.05) - 0.4 * agg_normal_tail((x - 0.7) / 0.08);
}

static double below_even(double x)
{
    return x;
}

const char *agg_distribution_shape(agg_forecast_crowd *crowd, size_t index)
{
    static double (*const laws[])(double x) = {below_skewed, below_hump, below_humps, below_even};
    static const char *const names[] = {"skewed", "hump", "humps", "even"};
    if (index >= AGG_DISTRIBUTION_SHAPES) return NULL;
    if (crowd != NULL) agg_forecast_crowd_of(crowd, laws[index]);
    return names[index];
}

// ---- candidates ----

// Sets the variances of the buckets' counts. Returns: their sum.
static double variances_of(double *variances, const shoal_part *part,
                           const agg_distribution_wish *wish)
{
    const agg_account *account = agg_account_of(part->mechanism);
    double sum = 0, squares = 0, *f = variances, before = 0;
    for (uint32_t b = 0; b < part->size; b++) {
        double here = agg_forecast_below(&wish->crowd, (double)(b + 1) / part->size);
        f[b] = wish->n * (here - before);
        squares += f[b] * f[b];
        before = here;
    }
    for (uint32_t b = 0; b < part->size; b++)
        sum += variances[b] = account->variance(part, wish->n, f[b], squares);
    return sum;
}

static bool is_list(const shoal_part *part)
{
    return part->domain == SHOAL_DOMAIN_CLOSED &&
           !shoal_mechanism_by_id(part->mechanism)->is_permanent;
}

// Sets the part of `size` buckets with the least error; among equals, of the smallest record.
// Returns: whether there is one.
static bool choose_list(shoal_part *best, const agg_distribution_wish *wish, uint32_t size)
{
    const agg_wish asked = {wish->eps_micro, size, false, wish->n, 0, CELLS_MAX};
    double least = INFINITY, variances[256];
    for (uint32_t a = 0; agg_account_at(a) != NULL; a++) {
        const agg_account *account = agg_account_at(a);
        shoal_part part;
        const char *field;
        if (wish->mechanism != 0 && account->id != wish->mechanism) continue;
        for (uint32_t i = 0; account->propose(&part, &asked, i); i++) {
            if (!is_list(&part) || shoal_part_prepare(&part, &field) != SHOAL_OK) continue;
            double own = sqrt(variances_of(variances, &part, wish));
            bool is_smaller = own < least * AGG_PLAN_TIE && part.record_size < best->record_size;
            if (own >= least / AGG_PLAN_TIE && !is_smaller) continue;
            least = fmin(least, own);
            *best = part;
        }
    }
    return isfinite(least);
}

static bool choose_wave(shoal_part *best, const agg_distribution_wish *wish)
{
    const agg_wish asked = {wish->eps_micro, 0, true, wish->n, 0, CELLS_MAX};
    for (uint32_t a = 0; agg_account_at(a) != NULL; a++) {
        const agg_account *account = agg_account_at(a);
        const char *field;
        if (wish->mechanism != 0 && account->id != wish->mechanism) continue;
        if (agg_estimator_of(account->id)->places == NULL) continue;
        if (account->propose(best, &asked, 0) && shoal_part_prepare(best, &field) == SHOAL_OK)
            return true;
    }
    return false;
}

static void add(agg_distribution_plan *plan, const shoal_part *part)
{
    plan->candidates[plan->n_candidates++] = (agg_distribution_candidate){
        .mechanism = shoal_mechanism_by_id(part->mechanism), .part = *part};
}

static void propose(agg_distribution_plan *plan, const agg_distribution_wish *wish)
{
    static const uint32_t sizes[] = {8, 16, 32, 64, 128, 256};
    shoal_part part = {0};
    if (wish->size > 0) {
        if (choose_list(&part, wish, wish->size)) add(plan, &part);
        return;
    }
    if (choose_wave(&part, wish)) add(plan, &part);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        part = (shoal_part){0};
        if (choose_list(&part, wish, sizes[i])) add(plan, &part);
    }
}

// ---- judging ----

typedef struct judging {
    agg_distribution_plan *plan;
    const agg_distribution_wish *wish;
    size_t n; // what is to be done: forecasts, or trials of all candidates
    bool is_trial;
    agg_forecast *results;
    agg_err *errs;
    agg_error *errors;
} judging;

static double judged(const agg_forecast *f, const agg_distribution_wish *wish)
{
    return wish->is_by_quantile ? f->errors[wish->n_quantiles - 1] : f->distance;
}

static void judge_one(judging *j, size_t i)
{
    const agg_distribution_wish *w = j->wish;
    const shoal_part *part =
        &j->plan->candidates[j->is_trial ? i / AGG_DISTRIBUTION_TRIALS : i].part;
    double variances[256], *of_list = NULL;
    if (part->domain == SHOAL_DOMAIN_CLOSED) {
        variances_of(variances, part, w);
        of_list = variances;
    }
    if (j->is_trial)
        j->errs[i] = agg_distribution_trial(&j->results[i], &j->errors[i], part, of_list,
                                            agg_account_of(part->mechanism)->sums_up, &w->crowd,
                                            w->n, w->quantiles, w->n_quantiles, i);
    else
        j->errs[i] = agg_distribution_forecast(&j->results[i], &j->errors[i], part, of_list,
                                               &w->crowd, w->n, w->quantiles, w->n_quantiles);
}

static void judge_part(void *context, unsigned part, unsigned n_parts)
{
    judging *j = context;
    for (size_t i = part; i < j->n; i += n_parts) judge_one(j, i);
}

static int by_error(const void *x, const void *y)
{
    const agg_distribution_candidate *a = x, *b = y;
    if (a->judged != b->judged) return a->judged < b->judged ? -1 : 1;
    return a->part.size < b->part.size ? -1 : a->part.size > b->part.size;
}

// Sets each candidate's errors to the mean of its results, `each` of them, and sorts.
static void take_results(judging *j, size_t each)
{
    for (size_t i = 0; i < j->plan->n_candidates; i++) {
        agg_distribution_candidate *c = &j->plan->candidates[i];
        c->forecast = j->results[i * each];
        for (size_t t = 1; t < each; t++) {
            const agg_forecast *one = &j->results[i * each + t];
            c->forecast.distance += one->distance;
            for (size_t q = 0; q < j->wish->n_quantiles; q++)
                c->forecast.errors[q] += one->errors[q];
        }
        c->forecast.distance /= (double)each;
        for (size_t q = 0; q < j->wish->n_quantiles; q++) c->forecast.errors[q] /= (double)each;
        c->judged = judged(&c->forecast, j->wish);
    }
    qsort(j->plan->candidates, j->plan->n_candidates, sizeof j->plan->candidates[0], by_error);
}

static agg_err judge_all(judging *j, agg_error *error, size_t each, unsigned n_threads)
{
    agg_err err = SHOAL_OK;
    j->is_trial = each > 1;
    j->n = j->plan->n_candidates * each;
    agg_parallel(n_threads > 0 ? n_threads : 1, judge_part, j);
    for (size_t i = 0; i < j->n && err == SHOAL_OK; i++) {
        err = j->errs[i];
        if (err != SHOAL_OK) *error = j->errors[i];
    }
    if (err == SHOAL_OK) take_results(j, each);
    return err;
}

agg_err agg_distribution_plan_run(agg_distribution_plan *plan, agg_error *error,
                                  const agg_distribution_wish *wish, unsigned n_threads)
{
    const size_t most = AGG_DISTRIBUTION_TRIED * AGG_DISTRIBUTION_TRIALS;
    judging j = {.plan = plan, .wish = wish};
    *plan = (agg_distribution_plan){0};
    propose(plan, wish);
    j.results = agg_alloc(error, most, sizeof *j.results);
    j.errs = agg_alloc(error, most, sizeof *j.errs);
    j.errors = agg_alloc(error, most, sizeof *j.errors);
    agg_err err = AGG_ERR_MEMORY;
    if (j.results != NULL && j.errs != NULL && j.errors != NULL)
        err = judge_all(&j, error, 1, n_threads);
    if (plan->n_candidates > AGG_DISTRIBUTION_TRIED) plan->n_candidates = AGG_DISTRIBUTION_TRIED;
    if (err == SHOAL_OK) err = judge_all(&j, error, AGG_DISTRIBUTION_TRIALS, n_threads);
    free(j.results);
    free(j.errs);
    free(j.errors);
    return err;
}
