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
    double n = agg_honest_reports((double)g->block, g->honest);
    agg_err err = SHOAL_OK;
    for (int bound = 0; bound < AGG_GENERAL_BOUNDS && err == SHOAL_OK; bound++) {
        agg_crowd crowd = {g->epsilon, n, g->delta, 1, NULL};
        agg_central item = {NAN, NAN}, device = {NAN, NAN};
        err = agg_crowd_epsilon(&item, error, &crowd, (agg_bound)bound, false);
        crowd.contributions = g->contributions;
        if (err == SHOAL_OK && g->contributions > 1 && crowd.contributions <= n)
            err = agg_crowd_epsilon(&device, error, &crowd, (agg_bound)bound, false);
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

static char *next_line(agg_trie_guarantee *g)
{
    return g->lines[g->n_lines++];
}

// The line names its assumptions, since a note may be read alone.
static void print_central(agg_trie_guarantee *g, const char *whose, const double central[3])
{
    char a[AGG_ROUND_TEXT_MAX], b[AGG_ROUND_TEXT_MAX], c[AGG_ROUND_TEXT_MAX],
        delta[AGG_ROUND_TEXT_MAX];
    snprintf(next_line(g), AGG_TRIE_LINE_MAX,
             "%s: central epsilon, delta %s, smallest block of %llu reports, %.3g %% honest, for "
             "readers of blocks only: %s closed form, %s clones, %s stronger",
             whose, agg_delta_text(delta, g->delta), (unsigned long long)g->block, 100 * g->honest,
             agg_upper_text(a, central[AGG_BOUND_CLOSED_FORM], 4, "none"),
             agg_upper_text(b, central[AGG_BOUND_CLONES], 4, "none"),
             agg_upper_text(c, central[AGG_BOUND_STRONGER], 4, "none"));
}

static void print(agg_trie_guarantee *g)
{
    char k[4][32];
    snprintf(next_line(g), AGG_TRIE_LINE_MAX,
             "item (one contribution): local epsilon %g; device (%u of them, in one round): local "
             "epsilon %g",
             g->epsilon, g->contributions, g->epsilon * g->contributions);
    if (g->block > 0) {
        print_central(g, "item", g->item);
        print_central(g, g->contributions > 1 ? "device, by group privacy" : "device", g->device);
    }
    snprintf(next_line(g), AGG_TRIE_LINE_MAX,
             "k-anonymity, approximate (alpha %g): k = %s by Lemma 1 (subsets of d - 2); with d - "
             "1: %s; with d: %s",
             ALPHA, k_text(k[0], g->k[2]), k_text(k[1], g->k[1]), k_text(k[2], g->k[0]));
    snprintf(next_line(g), AGG_TRIE_LINE_MAX,
             "k-anonymity by what the weakest kept has (alpha %g, that taken as fixed): k = %s",
             ALPHA, k_text(k[3], g->k_kept));
}

agg_err agg_trie_guarantee_run(agg_trie_guarantee *out, agg_error *error,
                               const shoal_recipe *recipe, const agg_trie_layer *layer,
                               const agg_release *release)
{
    bool has_central = release->block > 0 && release->honest > 0;
    *out = (agg_trie_guarantee){.epsilon = recipe->eps_micro / 1e6,
                                .delta = recipe->cohort_delta_exp > 0
                                             ? pow(10, -(double)recipe->cohort_delta_exp)
                                             : AGG_DELTA_UNSTATED,
                                .n = (double)layer->n,
                                .honest = release->honest,
                                .contributions = recipe->contributions,
                                .item = {NAN, NAN, NAN},
                                .device = {NAN, NAN, NAN}};
    if (has_central) out->block = release->block < layer->n ? release->block : layer->n;
    agg_err err = out->block > 0 ? find_central(out, error) : SHOAL_OK;
    if (err != SHOAL_OK) return err;
    find_k(out, recipe, layer);
    print(out);
    return SHOAL_OK;
}
