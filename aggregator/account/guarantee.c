// SPDX-License-Identifier: Apache-2.0
// Computes the guarantees of a result; see guarantee.h. n and the recipe are enough, so this file
// must not depend on accumulators or estimates.
#include "guarantee.h"

#include <math.h>

#include "account.h"
#include "amplification.h"
#include "recipe.h"

#define LEAST_GAIN                                                                                 \
    1e-3 // a bound that gains less than this share of the local epsilon is not worth its delta

double agg_honest_reports(double n, double honest)
{
    return fmax(1, floor(n * honest * (1 + 1e-15))); // the factor makes 0.1 of 30 come to 3
}

static void take_if_better(agg_guarantee *g, double epsilon, const char *bound)
{
    double best = isnan(g->central) ? g->local * (1 - LEAST_GAIN) : g->central;
    if (!(epsilon < best)) return;
    g->central = epsilon;
    g->bound = bound;
}

// Returns: a bound of the mechanism's own, or NULL.
static double (*own_bound(const shoal_recipe *recipe))(double local, double n, double delta)
{
    return recipe->n_parts == 1 ? agg_account_of(recipe->parts[0].mechanism)->central : NULL;
}

// Finds the central epsilon. There is no central claim outside the ranges of the bounds, where a
// person's reports are nearly public or nearly pure noise.
static agg_err find_central(agg_guarantee *g, agg_error *error, const shoal_recipe *recipe)
{
    static const agg_bound bounds[] = {
        AGG_BOUND_CLOSED_FORM, AGG_BOUND_STRONGER}; // the plain clones bound is never better
    double n = agg_honest_reports((double)g->reports, g->honest);
    const agg_crowd crowd = {g->local, n, g->delta, 1};
    agg_err err = SHOAL_OK;
    if (g->local < AGG_CROWD_EPSILON_MIN || g->local > AGG_CROWD_EPSILON_MAX ||
        n > AGG_CROWD_REPORTS_MAX)
        return SHOAL_OK;
    for (size_t i = 0; err == SHOAL_OK && i < sizeof bounds / sizeof *bounds; i++) {
        agg_central central;
        err = agg_crowd_epsilon(&central, error, &crowd, bounds[i], 1);
        if (err == SHOAL_OK) take_if_better(g, central.upper, agg_bound_names[bounds[i]]);
    }
    if (err == SHOAL_OK && own_bound(recipe) != NULL)
        take_if_better(g, own_bound(recipe)(g->local, n, g->delta), "renyi");
    return err;
}

// Returns: exactly the double that the text 1e-K is read as.
static double power_of_a_tenth(uint32_t k)
{
    double power = 1;
    while (k-- > 0) power *= 10;
    return 1 / power;
}

agg_err agg_guarantee_run(agg_guarantee *guarantee, agg_error *error, const shoal_recipe *recipe,
                          uint64_t n, double honest)
{
    uint32_t drawn = 0;
    agg_guarantee g = {.local = recipe->cost_micro / 1e6,
                       .per_day =
                           recipe->contributions > 0 ? recipe->contributions : recipe->per_day,
                       .is_of_items = recipe->contributions > 0,
                       .reports = n,
                       .honest = honest,
                       .delta = AGG_DELTA_UNSTATED,
                       .is_delta_stated = recipe->cohort_delta_exp > 0,
                       .central = NAN,
                       .claim = recipe->cohort_eps_micro / 1e6};
    if (g.is_delta_stated) g.delta = power_of_a_tenth(recipe->cohort_delta_exp);
    g.drawn = shoal_recipe_epsilon(&drawn, recipe) == SHOAL_OK ? drawn / 1e6 : g.local;
    agg_err err = find_central(&g, error, recipe);
    if (err != SHOAL_OK) return err;
    g.is_claim_kept = g.claim > 0 && (isnan(g.central) ? g.local : g.central) <= g.claim;
    *guarantee = g;
    return SHOAL_OK;
}

void agg_guarantee_both(double *epsilon, double *delta, const agg_guarantee *a,
                        const agg_guarantee *b)
{
    *epsilon =
        (a->bound != NULL ? a->central : a->local) + (b->bound != NULL ? b->central : b->local);
    *delta = (a->bound != NULL ? a->delta : 0) + (b->bound != NULL ? b->delta : 0);
}
