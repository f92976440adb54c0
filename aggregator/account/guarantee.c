// SPDX-License-Identifier: Apache-2.0
// Computes the guarantees of a result; see guarantee.h. n and the recipe are enough, so this file
// must not depend on accumulators or estimates.
#include "guarantee.h"

#include <math.h>

#include "account.h"
#include "amplification.h"
#include "pair_law.h"
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

// Computes the least of the bounds that may be the best. Plain clones are never better than
// `stronger`. The blanket is, except for mechanisms of the largest possible variation, where both
// are the same but for the blanket's grid.
static agg_err find_least(double *least, const char **bound, agg_error *error,
                          const agg_crowd *crowd)
{
    double worst = tanh(crowd->local_epsilon / 2);
    bool is_known = crowd->pair->n > 0,
         is_worst = !is_known || agg_pair_variation(crowd->pair) > 0.98 * worst;
    const bool is_tried[AGG_BOUNDS] = {
        [AGG_BOUND_CLOSED_FORM] = true,
        [AGG_BOUND_STRONGER] = is_worst,
        [AGG_BOUND_BLANKET] = is_known,
    };
    agg_err err = SHOAL_OK;
    *least = NAN;
    for (int b = 0; b < AGG_BOUNDS && err == SHOAL_OK; b++) {
        agg_central central = {NAN, NAN};
        if (is_tried[b])
            err =
                agg_crowd_epsilon(&central, error, crowd, (agg_bound)b, crowd->contributions == 1);
        if (err != SHOAL_OK || isnan(central.upper) || !(isnan(*least) || central.upper < *least))
            continue;
        *least = central.upper;
        *bound = agg_bound_names[b];
    }
    return err;
}

// Finds the central epsilon. There is no central claim outside the ranges of the bounds, where a
// person's reports are nearly public or nearly pure noise.
static agg_err find_central(agg_guarantee *g, agg_error *error, const shoal_recipe *recipe,
                            const agg_pair_law *law)
{
    double n = agg_honest_reports((double)g->reports, g->honest), least = NAN;
    const agg_crowd crowd = {g->local, n, g->delta, 1, law};
    const char *bound = NULL;
    if (g->local < AGG_CROWD_EPSILON_MIN || g->local > AGG_CROWD_EPSILON_MAX ||
        n > AGG_CROWD_REPORTS_MAX)
        return SHOAL_OK;
    agg_err err = find_least(&least, &bound, error, &crowd);
    if (err == SHOAL_OK) take_if_better(g, least, bound);
    if (err == SHOAL_OK && own_bound(recipe) != NULL)
        take_if_better(g, own_bound(recipe)(g->local, n, g->delta), "renyi");
    return err;
}

// Finds the central epsilon of all of a person's reports by group privacy.
static agg_err find_person(agg_guarantee *g, agg_error *error, const agg_pair_law *law)
{
    double n = agg_honest_reports((double)g->reports, g->honest);
    const agg_crowd crowd = {g->local, n, g->delta, (double)g->person_reports, law};
    const char *bound = NULL;
    if (g->bound == NULL) return SHOAL_OK;
    if (g->person_reports == 1) g->person = g->central;
    if (g->person_reports == 1 || crowd.contributions > n) return SHOAL_OK;
    return find_least(&g->person, &bound, error, &crowd);
}

// Returns: why there is no central figure, before any bound is tried.
static agg_central_none reason_of(const shoal_recipe *recipe, const agg_release *release)
{
    if (shoal_recipe_is_permanent(recipe)) return AGG_CENTRAL_PERMANENT;
    if (recipe->epochs > 0) return AGG_CENTRAL_RUN;
    if (release->block == 0) return AGG_CENTRAL_FILES;
    return release->honest > 0 ? AGG_CENTRAL_GIVEN : AGG_CENTRAL_HONEST;
}

// Returns: exactly the double that the text 1e-K is read as.
static double power_of_a_tenth(uint32_t k)
{
    double power = 1;
    while (k-- > 0) power *= 10;
    return 1 / power;
}

// Fills in how many reports a person may have. A device answers one round of a trie, and a query,
// once.
static void count_person(agg_guarantee *g, const shoal_recipe *recipe, uint32_t days)
{
    bool is_once = g->is_of_items || recipe->version > 0;
    g->days = is_once ? 0 : days > 0 ? days : 1;
    g->person_reports = g->is_of_items        ? recipe->contributions
                        : recipe->version > 0 ? 1
                                              : (uint64_t)recipe->per_day * g->days;
}

agg_err agg_guarantee_run(agg_guarantee *guarantee, agg_error *error, const shoal_recipe *recipe,
                          uint64_t n, const agg_release *release)
{
    uint32_t drawn = 0;
    agg_pair_law law;
    agg_err err = SHOAL_OK;
    agg_guarantee g = {.local = recipe->cost_micro / 1e6,
                       .per_day =
                           recipe->contributions > 0 ? recipe->contributions : recipe->per_day,
                       .is_of_items = recipe->contributions > 0,
                       .reports = release->block < n ? release->block : n,
                       .honest = release->honest,
                       .delta = AGG_DELTA_UNSTATED,
                       .is_delta_stated = recipe->cohort_delta_exp > 0,
                       .central = NAN,
                       .none = reason_of(recipe, release),
                       .person = NAN,
                       .claim = recipe->cohort_eps_micro / 1e6};
    if (g.is_delta_stated) g.delta = power_of_a_tenth(recipe->cohort_delta_exp);
    g.drawn = shoal_recipe_epsilon(&drawn, recipe) == SHOAL_OK ? drawn / 1e6 : g.local;
    count_person(&g, recipe, release->days);
    agg_pair_law_of(&law, recipe);
    if (g.none == AGG_CENTRAL_GIVEN) err = find_central(&g, error, recipe, &law);
    if (g.none == AGG_CENTRAL_GIVEN && g.bound == NULL) g.none = AGG_CENTRAL_NO_GAIN;
    if (err == SHOAL_OK) err = find_person(&g, error, &law);
    if (err != SHOAL_OK) return err;
    g.is_claim_kept = g.claim > 0 && (g.bound != NULL ? g.central : g.local) <= g.claim;
    *guarantee = g;
    return SHOAL_OK;
}

bool agg_guarantee_knows_claim(const agg_guarantee *guarantee)
{
    return guarantee->is_claim_kept || guarantee->none == AGG_CENTRAL_GIVEN ||
           guarantee->none == AGG_CENTRAL_NO_GAIN;
}

const char *agg_central_none_name(agg_central_none none)
{
    static const char *const names[] = {NULL, "files", "honest", "permanent", "run", "no_gain"};
    return names[none];
}

void agg_guarantee_both(double *epsilon, double *delta, const agg_guarantee *a,
                        const agg_guarantee *b)
{
    *epsilon =
        (a->bound != NULL ? a->central : a->local) + (b->bound != NULL ? b->central : b->local);
    *delta = (a->bound != NULL ? a->delta : 0) + (b->bound != NULL ? b->delta : 0);
}
