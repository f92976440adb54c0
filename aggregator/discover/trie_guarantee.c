// SPDX-License-Identifier: Apache-2.0
// Computes the guarantees of a round; see trie_guarantee.h.
#include "trie_guarantee.h"

#include <math.h>
#include <stdio.h>

#include "amplification.h"
#include "guarantee.h"
#include "k_anonymity.h"
#include "recipe.h"
#include "round_text.h"

#define ALPHA 0.95

static agg_err find_central(agg_trie_guarantee *g, agg_error *error)
{
    agg_err err = SHOAL_OK;
    for (int bound = 0; bound < AGG_BOUNDS && err == SHOAL_OK; bound++) {
        agg_crowd crowd = {g->epsilon, g->n, g->delta, 1};
        agg_central item = {NAN, NAN}, device = {NAN, NAN};
        err = agg_crowd_epsilon(&item, error, &crowd, (agg_bound)bound, 0);
        crowd.contributions = g->contributions;
        if (err == SHOAL_OK && g->contributions > 1)
            err = agg_crowd_epsilon(&device, error, &crowd, (agg_bound)bound, 0);
        g->item[bound] = item.upper;
        g->device[bound] = g->contributions > 1 ? device.upper : item.upper;
    }
    return err;
}

static void find_k(agg_trie_guarantee *g, const shoal_recipe *recipe, const agg_trie_layer *layer)
{
    const shoal_part *part = &recipe->parts[0];
    double p = (double)(0 - part->threshold) * 0x1p-64;
    agg_anonymity a = {g->n, part->m, part->k, p, (part->k - p) / (part->m - 1)};
    for (int less = 0; less < 3; less++)
        g->k[less] =
            a.d > less
                ? agg_anonymity_k(&a, agg_anonymity_tau(&a, recipe->max_prefixes, less), ALPHA)
                : AGG_ANONYMITY_NONE;
    g->k_kept = layer->n_cells > 0 ? agg_anonymity_k(&a, layer->support_kept, ALPHA) : NAN;
}

static const char *k_text(char out[32], double k)
{
    if (isnan(k) || k < 0) return "none";
    snprintf(out, 32, "%.0f", k);
    return out;
}

static void print_central(char out[AGG_TRIE_LINE_MAX], const agg_trie_guarantee *g,
                          const char *whose, const double central[3])
{
    char a[AGG_ROUND_TEXT_MAX], b[AGG_ROUND_TEXT_MAX], c[AGG_ROUND_TEXT_MAX],
        delta[AGG_ROUND_TEXT_MAX];
    snprintf(
        out, AGG_TRIE_LINE_MAX,
        "%s: central epsilon, delta %s, of %.0f reports: %s closed form, %s clones, %s stronger",
        whose, agg_delta_text(delta, g->delta), g->n,
        agg_upper_text(a, central[AGG_BOUND_CLOSED_FORM], 4, "none"),
        agg_upper_text(b, central[AGG_BOUND_CLONES], 4, "none"),
        agg_upper_text(c, central[AGG_BOUND_STRONGER], 4, "none"));
}

static void print(agg_trie_guarantee *g)
{
    char k[4][32], whose[64];
    snprintf(g->lines[0], AGG_TRIE_LINE_MAX,
             "item (one contribution): local epsilon %g; device (%u of them, in one round): local "
             "epsilon %g",
             g->epsilon, g->contributions, g->epsilon * g->contributions);
    print_central(g->lines[1], g, "item", g->item);
    snprintf(whose, sizeof whose, "device%s", g->contributions > 1 ? ", by group privacy" : "");
    print_central(g->lines[2], g, whose, g->device);
    snprintf(g->lines[3], AGG_TRIE_LINE_MAX,
             "k-anonymity, approximate (alpha %g): k = %s by Lemma 1 (subsets of d - 2); with d - "
             "1: %s; with d: %s",
             ALPHA, k_text(k[0], g->k[2]), k_text(k[1], g->k[1]), k_text(k[2], g->k[0]));
    snprintf(g->lines[4], AGG_TRIE_LINE_MAX,
             "k-anonymity by what the weakest kept has (alpha %g, that taken as fixed): k = %s",
             ALPHA, k_text(k[3], g->k_kept));
}

agg_err agg_trie_guarantee_run(agg_trie_guarantee *out, agg_error *error,
                               const shoal_recipe *recipe, const agg_trie_layer *layer)
{
    *out = (agg_trie_guarantee){.epsilon = recipe->eps_micro / 1e6,
                                .delta = recipe->cohort_delta_exp > 0
                                             ? pow(10, -(double)recipe->cohort_delta_exp)
                                             : AGG_DELTA_UNSTATED,
                                .n = (double)layer->n,
                                .contributions = recipe->contributions};
    agg_err err = find_central(out, error);
    if (err != SHOAL_OK) return err;
    find_k(out, recipe, layer);
    print(out);
    return SHOAL_OK;
}
