// SPDX-License-Identifier: Apache-2.0
// Guarantees of a result; see guarantee.h. Must not depend on accumulators or estimates: n and the
// recipe are enough.
#include "guarantee.h"

#include <math.h>
#include <string.h>

#include "amplification.h"
#include "compound.h"
#include "renyi.h"
#include "round_text.h"

#define LEAST_GAIN                                                                                 \
    1e-3 // a bound that gains less, in parts of the local epsilon, is not worth its delta

double agg_honest_reports(double n, double honest)
{
    return fmax(1, floor(n * honest * (1 + 1e-15))); // 0.1 of 30 is 3
}

static void take_if_better(agg_guarantee *g, double epsilon, const char *bound)
{
    double best = isnan(g->central) ? g->local * (1 - LEAST_GAIN) : g->central;
    if (!(epsilon < best)) return;
    g->central = epsilon;
    g->bound = bound;
}

static int is_symmetric_one_hot(const shoal_recipe *recipe)
{
    return recipe->n_parts == 1 && recipe->parts[0].mechanism == shoal_onehot_symmetric_id;
}

// Each bit's randomized response has half the epsilon.
static double renyi_epsilon(double local, double n, double delta)
{
    agg_renyi_curve curve;
    agg_renyi_orders(&curve, local / 2, n);
    agg_renyi_one_hot(&curve, local / 2, n);
    return agg_renyi_epsilon(&curve, delta);
}

// Outside the ranges of the bounds, where a person's reports are all but public or all but noise,
// there is no central claim.
static agg_err find_central(agg_guarantee *g, agg_error *error, const shoal_recipe *recipe)
{
    static const agg_bound bounds[] = {AGG_BOUND_CLOSED_FORM,
                                       AGG_BOUND_STRONGER}; // clones are never better
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
    if (err == SHOAL_OK && is_symmetric_one_hot(recipe))
        take_if_better(g, renyi_epsilon(g->local, n, g->delta), "renyi");
    return err;
}

// Exactly the double that 1e-K is read as.
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
                       .per_day = recipe->mechanism == shoal_trie_id ? recipe->contributions
                                                                     : recipe->per_day,
                       .is_trie = recipe->mechanism == shoal_trie_id,
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

// "closed_form" is a name for programs.
static const char *name_for_people(const char *bound)
{
    return strcmp(bound, agg_bound_names[AGG_BOUND_CLOSED_FORM]) == 0 ? "closed form" : bound;
}

static void central_line(char *out, size_t size, const agg_guarantee *g)
{
    const char *name = g->is_trie ? "central, item     " : "central epsilon   ";
    char epsilon[AGG_ROUND_TEXT_MAX], delta[AGG_ROUND_TEXT_MAX], of[96];
    snprintf(of, sizeof of, "%llu report%s, delta %s%s", (unsigned long long)g->reports,
             g->reports == 1 ? "" : "s", agg_delta_text(delta, g->delta),
             g->is_delta_stated ? "" : ", the recipe states none");
    if (g->bound == NULL)
        snprintf(out, size, "%s  no better than that of a report (%s)", name, of);
    else
        snprintf(out, size, "%s  %s (%s bound, %s)", name,
                 agg_upper_text(epsilon, g->central, AGG_DIGITS_TABLE, ""),
                 name_for_people(g->bound), of);
}

static void claim_line(char *out, size_t size, const agg_guarantee *g)
{
    snprintf(out, size, "claim               central epsilon %.8g: %s by these reports", g->claim,
             g->is_claim_kept ? "kept" : "not kept");
}

static void assumption_line(char *out, size_t size, const agg_guarantee *g)
{
    char honest[48] = "all reporters honest";
    if (g->honest < 1)
        snprintf(honest, sizeof honest, "%g %% of the reporters honest", 100 * g->honest);
    snprintf(out, size, "The central epsilon %s, %s, only the sum shown.",
             g->is_trie ? "is of one contribution (item) in a round's sum"
                        : "assumes one report a person in this result",
             honest);
}

int agg_guarantee_line(char out[AGG_GUARANTEE_LINE_MAX], const agg_guarantee *guarantee,
                       size_t index)
{
    const agg_guarantee *g = guarantee;
    const size_t size = AGG_GUARANTEE_LINE_MAX;
    if (index >= 3 && g->claim <= 0) index++; // no such line
    if (index >= 4 && !(g->delta * (double)g->reports > 1)) index++;
    switch (index) {
    case 0:
        snprintf(out, size, "%s  %.8g (as drawn: %.8g)",
                 g->is_trie ? "epsilon per item  " : "epsilon per report", g->local, g->drawn);
        return 1;
    case 1:
        if (g->is_trie)
            snprintf(out, size, "epsilon per device  %g (%u contribution%s, in one round)",
                     g->local * g->per_day, g->per_day, g->per_day == 1 ? "" : "s");
        else
            snprintf(out, size, "epsilon per day     %g (%u report%s)", g->local * g->per_day,
                     g->per_day, g->per_day == 1 ? "" : "s");
        return 1;
    case 2: central_line(out, size, g); return 1;
    case 3: claim_line(out, size, g); return 1;
    case 4:
        snprintf(out, size,
                 "delta               above 1 / reports: it would let one report be read");
        return 1;
    case 5: assumption_line(out, size, g); return 1;
    default: return 0;
    }
}

static int has_line(const agg_guarantee *g, const char *line)
{
    char own[AGG_GUARANTEE_LINE_MAX];
    for (size_t i = 0; agg_guarantee_line(own, g, i); i++)
        if (strcmp(own, line) == 0) return 1;
    return 0;
}

static void both_line(char *out, size_t size, const agg_guarantee *a, const agg_guarantee *b)
{
    char epsilon_text[AGG_ROUND_TEXT_MAX], delta_text[AGG_ROUND_TEXT_MAX];
    double epsilon = 0, delta = 0;
    agg_guarantee_both(&epsilon, &delta, a, b);
    snprintf(out, size, "A person with a report on both sides: epsilon %s at delta %s.",
             agg_upper_text(epsilon_text, epsilon, AGG_DIGITS_TABLE, ""),
             agg_delta_text(delta_text, delta));
}

int agg_guarantee_line_of_two(char out[AGG_GUARANTEE_LINE_MAX], const agg_guarantee *a,
                              const agg_guarantee *b, size_t index)
{
    const agg_guarantee *const sides[] = {a, b, a};
    static const char *const heads[] = {"a: ", "b: ", ""};
    char line[AGG_GUARANTEE_LINE_MAX - 4];
    size_t n = 0;
    for (int pass = 0; pass < 3; pass++)
        for (size_t i = 0; agg_guarantee_line(out, sides[pass], i); i++) {
            if (has_line(pass == 1 ? a : b, out) != (pass == 2) || n++ != index) continue;
            snprintf(line, sizeof line, "%s", out);
            snprintf(out, AGG_GUARANTEE_LINE_MAX, "%s%s", heads[pass], line);
            return 1;
        }
    if (n != index) return 0;
    both_line(out, AGG_GUARANTEE_LINE_MAX, a, b);
    return 1;
}

void agg_guarantee_print_json(FILE *stream, const agg_guarantee *guarantee)
{
    const agg_guarantee *g = guarantee;
    char epsilon[AGG_ROUND_TEXT_MAX], delta[AGG_ROUND_TEXT_MAX];
    agg_delta_text(delta, g->delta);
    fprintf(stream,
            "{\"local\":{\"epsilon\":%.10g,\"drawn\":%.10g,\"model\":\"replacement\",\"reports_per_"
            "day\":%u,"
            "\"epsilon_per_day\":%.15g},\"central\":",
            g->local, g->drawn, g->per_day, g->local * g->per_day);
    if (g->bound != NULL)
        fprintf(stream,
                "{\"epsilon\":%s,\"delta\":%s,\"bound\":\"%s\",\"reports\":%llu,\"honest\":%.12g}",
                agg_upper_text(epsilon, g->central, AGG_DIGITS_JSON, "null"), delta, g->bound,
                (unsigned long long)g->reports, g->honest);
    else
        fputs("null", stream);
    if (g->claim > 0)
        fprintf(stream, ",\"claim\":{\"epsilon\":%.10g,\"delta\":%s,\"kept\":%s}", g->claim, delta,
                g->is_claim_kept ? "true" : "false");
    fputc('}', stream);
}
