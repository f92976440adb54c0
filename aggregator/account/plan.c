// SPDX-License-Identifier: Apache-2.0
// Compares the variants that every mechanism proposes; see plan.h. No mechanism is named here.
#include "plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "normal_law.h"
#include "probability.h"
#include "recipe_choices.h"
#include "row_count.h"

typedef struct variants {
    agg_plan_candidate *at;
    size_t n, cap;
} variants;

static agg_wish account_wish(const agg_plan_wish *wish)
{
    double n = agg_plan_reports(wish), held = n * agg_plan_active(wish);
    agg_wish out = {.eps_micro = wish->eps_micro,
                    .size = wish->size,
                    .is_number = wish->is_mean,
                    .n = n,
                    .squares = held * held * wish->law.squares,
                    .cells = wish->memory > 0 ? wish->memory / 4 : (double)(1u << 28)};
    return out;
}

static agg_err add_variant(variants *all, agg_error *error, const agg_plan_wish *wish,
                           shoal_part part)
{
    const char *field = NULL;
    if (shoal_part_prepare(&part, &field) != SHOAL_OK)
        return SHOAL_OK; // the mechanism cannot make this variant
    agg_err err = agg_grow((void **)&all->at, &all->cap, all->n + 1, sizeof *all->at, error);
    if (err != SHOAL_OK) return err;
    agg_plan_judge(&all->at[all->n], wish, &part);
    if (agg_plan_is_possible(&all->at[all->n], wish)) all->n++;
    return SHOAL_OK;
}

// Adds a proposal, and the same with a half and a quarter of its rows, which may do as well. Where
// the report's size is limited, it also adds one with few enough rows that their number has fewer
// digits.
static agg_err add_proposal(variants *all, agg_error *error, const agg_plan_wish *wish,
                            shoal_part part)
{
    const shoal_takes *own =
        shoal_mechanism_takes(shoal_mechanism_by_id(part.mechanism), part.domain);
    uint32_t rows = part.k;
    agg_err err = add_variant(all, error, wish, part);
    if (!(own->needs & SHOAL_TAKES_K)) return err;
    for (uint32_t k = rows / 2; k >= rows / 4 && k >= AGG_ROWS_LEAST && err == SHOAL_OK; k /= 2) {
        part.k = k;
        err = add_variant(all, error, wish, part);
    }
    for (uint32_t k = 9999999; wish->report_bytes > 0 && k >= 9 && err == SHOAL_OK; k /= 10) {
        if (k >= rows) continue;
        part.k = k;
        err = add_variant(all, error, wish, part);
    }
    return err;
}

// Returns: whether the plan may not use a permanent answer. Its noise is the same in all reports of
// a device, so the variances here, which add up over reports, are too small if there are several.
// And no window is answered with permanent coins.
static bool is_barred(const agg_plan_wish *wish, const agg_account *account)
{
    if (!shoal_mechanism_by_id(account->id)->is_permanent) return false;
    return wish->is_uniform || (wish->mechanism == 0 && wish->per_day * wish->days > 1);
}

// Gathers every variant that a mechanism can make, whether it keeps the limits or not.
static agg_err gather(variants *all, agg_error *error, const agg_plan_wish *wish)
{
    const agg_account *account = NULL;
    agg_wish own = account_wish(wish);
    agg_err err = SHOAL_OK;
    for (uint32_t i = 0; (account = agg_account_at(i)) != NULL; i++) {
        shoal_part part;
        if (is_barred(wish, account) || (wish->mechanism != 0 && account->id != wish->mechanism))
            continue;
        for (uint32_t index = 0; err == SHOAL_OK && account->propose(&part, &own, index); index++)
            err = add_proposal(all, error, wish, part);
    }
    return err;
}

static int count_parameters(const agg_plan_candidate *c)
{
    uint32_t needs = shoal_mechanism_takes(c->mechanism, c->part.domain)->needs;
    int count = 0;
    for (; needs != 0; needs &= needs - 1) count++;
    return count;
}

// Returns: whether the first candidate wins when errors count as equal.
static bool is_cheaper(const agg_plan_candidate *a, const agg_plan_candidate *b)
{
    if (a->report_bytes != b->report_bytes) return a->report_bytes < b->report_bytes;
    if (a->part.mechanism != b->part.mechanism && count_parameters(a) != count_parameters(b))
        return count_parameters(a) < count_parameters(b);
    if (a->memory != b->memory) return a->memory < b->memory;
    return a->error < b->error;
}

// Returns: whether the candidate detects the stated share or, without one, the commonest value. A
// mean's interval must be narrower than its range.
static bool sees(const agg_plan_candidate *c, const agg_plan_wish *wish)
{
    if (wish->is_mean) return -agg_normal_quantile((1 - wish->confidence) / 2) * c->error < 0.5;
    return wish->detect > 0 ? c->smallest <= wish->detect : c->n_detectable >= 1;
}

// Returns: the best of one mechanism's variants, or of all (mechanism 0), among those that keep the
// limits. Variants that detect the wanted share go first. NULL if none keeps the limits.
static const agg_plan_candidate *choose(const variants *all, const agg_plan_wish *wish,
                                        uint32_t mechanism)
{
    const agg_plan_candidate *best = NULL;
    double least = INFINITY;
    bool must_see = false;
    enum { LOOK, MEASURE, CHOOSE, N_ROUNDS };
    for (int round = LOOK; round < N_ROUNDS; round++)
        for (size_t i = 0; i < all->n; i++) {
            const agg_plan_candidate *c = &all->at[i];
            if ((mechanism != 0 && c->part.mechanism != mechanism) ||
                !agg_plan_keeps_limits(c, wish))
                continue;
            if (round == LOOK) must_see |= sees(c, wish);
            if (must_see && !sees(c, wish)) continue;
            if (round == MEASURE) least = fmin(least, c->error);
            if (round == CHOOSE && c->error <= AGG_PLAN_TIE * least &&
                (best == NULL || is_cheaper(c, best)))
                best = c;
        }
    return best;
}

static int compare_errors(const void *a, const void *b)
{
    const agg_plan_candidate *x = a, *y = b;
    return (x->error > y->error) - (x->error < y->error);
}

// Lists the chosen candidate, then every other mechanism's best by rising error.
static void list_candidates(agg_plan *plan, const variants *all, const agg_plan_wish *wish)
{
    const agg_account *account = NULL;
    const agg_plan_candidate *best = choose(all, wish, 0);
    if (best == NULL) return;
    plan->candidates[plan->n_candidates++] = *best;
    for (uint32_t i = 0; (account = agg_account_at(i)) != NULL && i + 1 < AGG_PLAN_MECHANISMS;
         i++) {
        const agg_plan_candidate *own = choose(all, wish, account->id);
        if (own != NULL && account->id != best->part.mechanism)
            plan->candidates[plan->n_candidates++] = *own;
    }
    qsort(plan->candidates + 1, plan->n_candidates - 1, sizeof *plan->candidates, compare_errors);
}

// Returns: the smallest share that any mechanism can detect; infinite if none meets the limits.
static double least_share(const agg_plan_wish *wish)
{
    double least = INFINITY;
    variants all = {NULL, 0, 0};
    if (gather(&all, NULL, wish) == SHOAL_OK)
        for (size_t i = 0; i < all.n; i++)
            if (agg_plan_keeps_limits(&all.at[i], wish)) least = fmin(least, all.at[i].smallest);
    free(all.at);
    return least;
}

static double find_devices(const agg_plan_wish *wish, double target)
{
    agg_plan_wish other = *wish;
    double low = 1, high = floor(AGG_PLAN_REPORTS_MAX / (wish->per_day * wish->days));
    other.devices = high;
    if (high < 1 || least_share(&other) > target) return 0;
    while (high > low * 1.005) {
        other.devices = floor(sqrt(low * high)) + 1;
        if (least_share(&other) <= target)
            high = other.devices;
        else
            low = other.devices;
        if (high - low <= 1) break;
    }
    return high;
}

static double find_epsilon(const agg_plan_wish *wish, double target)
{
    agg_plan_wish other = *wish;
    uint32_t low = SHOAL_EPS_MICRO_MIN, high = SHOAL_EPS_MICRO_MAX;
    other.eps_micro = high;
    if (least_share(&other) > target) return 0;
    while (high - low > 1000) {
        other.eps_micro = low + (high - low) / 2;
        if (least_share(&other) <= target)
            high = other.eps_micro;
        else
            low = other.eps_micro;
    }
    return ceil(high / 1e4) / 100;
}

static void judge_plan(agg_plan *plan, const agg_plan_wish *wish, const variants *all)
{
    plan->least_report = plan->least_memory = INFINITY;
    for (size_t i = 0; i < all->n; i++) {
        plan->least_report = fmin(plan->least_report, all->at[i].report_bytes);
        plan->least_memory = fmin(plan->least_memory, all->at[i].memory);
    }
    if (plan->n_candidates == 0) {
        plan->why = all->n == 0 ? "no mechanism takes this many reports, this list and this epsilon"
                                : "no mechanism meets the limits on report and memory";
    } else if (!sees(&plan->candidates[0], wish)) {
        plan->why = wish->is_mean      ? "the interval of the mean would be as wide as its range"
                    : wish->detect > 0 ? "no mechanism tells a share this small from zero"
                                       : "not even the commonest value can be told from zero";
    }
    plan->is_nothing = plan->why != NULL;
}

// Finds the devices and the epsilon that would detect the wanted share or, if nothing is detected,
// the commonest value.
static void find_needs(agg_plan *plan, const agg_plan_wish *wish)
{
    if (wish->is_mean || plan->n_candidates == 0) return;
    if (wish->detect > 0)
        plan->target = wish->detect;
    else if (plan->is_nothing)
        plan->target = agg_value_law_share(&wish->law, 0);
    if (plan->target <= 0) return;
    plan->needed_devices = find_devices(wish, plan->target);
    plan->needed_epsilon = find_epsilon(wish, plan->target);
}

// Judges a plan in which a device spends its whole budget on one report.
static agg_err try_once(agg_plan *plan, agg_error *error, const agg_plan_wish *wish)
{
    agg_plan_wish once = *wish;
    variants all = {NULL, 0, 0};
    double spent =
        wish->budget > 0 ? wish->budget : wish->eps_micro / 1e6 * wish->per_day * wish->days;
    if (wish->per_day * wish->days <= 1) return SHOAL_OK;
    once.per_day = once.days = 1;
    once.eps_micro = agg_plan_split_budget(spent, 1);
    agg_err err = gather(&all, error, &once);
    const agg_plan_candidate *best = err == SHOAL_OK ? choose(&all, &once, 0) : NULL;
    if (best != NULL) {
        plan->once_epsilon = once.eps_micro / 1e6;
        plan->once_smallest = wish->is_mean ? best->error : best->smallest;
    }
    free(all.at);
    return err;
}

agg_pick_wish agg_plan_pick_wish(const agg_plan_wish *wish)
{
    const shoal_mechanism *mechanism = shoal_mechanism_by_id(wish->mechanism);
    return (agg_pick_wish){.active = wish->active,
                           .value = wish->is_mean    ? SHOAL_VALUE_NUMBER
                                    : wish->size > 0 ? SHOAL_VALUE_ITEM
                                                     : SHOAL_VALUE_WORD,
                           .is_permanent = mechanism != NULL && mechanism->is_permanent,
                           .is_mean = wish->is_mean};
}

// Judges a plan of the other pick, for the same devices and epsilon. Errors of counts become those
// of shares of active windows. A mean over windows is another number, and is not compared.
static agg_err try_other_pick(agg_plan *plan, agg_error *error, const agg_plan_wish *wish)
{
    agg_plan_wish other = *wish;
    variants all = {NULL, 0, 0};
    if (!(wish->active > 0) || wish->is_mean || plan->n_candidates == 0) return SHOAL_OK;
    other.is_uniform = !wish->is_uniform;
    agg_err err = gather(&all, error, &other);
    const agg_plan_candidate *best = err == SHOAL_OK ? choose(&all, &other, 0) : NULL;
    if (best != NULL) {
        double own = plan->candidates[0].error / (agg_plan_reports(wish) * agg_plan_active(wish));
        double its = best->error / (agg_plan_reports(&other) * agg_plan_active(&other));
        plan->other_smallest = best->smallest;
        plan->break_even =
            wish->is_uniform ? agg_pick_break_even(own, its) : agg_pick_break_even(its, own);
    }
    free(all.at);
    return err;
}

uint32_t agg_plan_split_budget(double budget, double reports)
{
    double micro = floor(budget / reports * 1e6 *
                         (1 + 1e-12)); // a decimal budget may lie slightly below itself in binary
    if (micro < SHOAL_EPS_MICRO_MIN) return 0;
    return micro < SHOAL_EPS_MICRO_MAX ? (uint32_t)micro : SHOAL_EPS_MICRO_MAX;
}

agg_err agg_plan_best(agg_plan_candidate *best, agg_error *error, const agg_plan_wish *wish)
{
    variants all = {NULL, 0, 0};
    agg_err err = gather(&all, error, wish);
    const agg_plan_candidate *chosen = err == SHOAL_OK ? choose(&all, wish, 0) : NULL;
    best->mechanism = NULL;
    if (chosen != NULL) *best = *chosen;
    free(all.at);
    return err;
}

agg_err agg_plan_run(agg_plan *plan, agg_error *error, const agg_plan_wish *wish)
{
    variants all = {NULL, 0, 0};
    memset(plan, 0, sizeof *plan);
    plan->n = agg_plan_reports(wish);
    plan->epsilon = wish->eps_micro / 1e6;
    agg_err err = gather(&all, error, wish);
    if (err == SHOAL_OK) {
        list_candidates(plan, &all, wish);
        judge_plan(plan, wish, &all);
        find_needs(plan, wish);
        err = try_once(plan, error, wish);
        if (err == SHOAL_OK) err = try_other_pick(plan, error, wish);
    }
    free(all.at);
    return err;
}
