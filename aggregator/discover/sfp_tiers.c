// SPDX-License-Identifier: Apache-2.0
// Weights p-values by group and then applies one rule to all; see sfp_tiers.h.
#include "sfp_tiers.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "agg_size.h"

#define WEIGHT_LEAST                                                                               \
    1e-3 // the floor lets groups of null candidates take part too; if all groups are null, the rule
         // is plain Benjamini and Hochberg

typedef struct group {
    double n, below; // candidates; those with a score below 0
    double weight;
} group;

// Weighs a group. Its share of null candidates is taken one standard error above the estimate.
// Otherwise many large null groups would each seem to hold a few strings and share the level among
// them.
// Returns: the group's null candidates times its weight, which count against the level.
static double weigh(group *g)
{
    double nothing = g->n > 0 ? fmin(1, (1 + g->below + 0.5 * sqrt(g->n)) / (0.5 * g->n)) : 1;
    g->weight = fmax((1 - nothing) / nothing, WEIGHT_LEAST);
    return g->n * nothing * g->weight;
}

static double upper_tail(double score)
{
    return 0.5 * erfc(score / sqrt(2));
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Returns: the largest ratio of p-value to group weight that is confirmed, or -1. `ranks` is
// sorted.
static double find_most(double *ranks, size_t n, double level)
{
    double most = -1;
    qsort(ranks, n, sizeof *ranks, compare_numbers);
    for (size_t i = 0; i < n; i++)
        if (ranks[i] <= level * (double)(i + 1)) most = ranks[i];
    return most;
}

// Judges all candidates, or only the unknown ones; the others are not confirmed.
static agg_err confirm_among(bool *confirmed, agg_error *error, const double *scores,
                             const uint16_t *groups, const bool *known, size_t n, size_t n_groups,
                             double fdr)
{
    double nothing = 0;
    size_t n_ranks = 0;
    group *list = agg_alloc(error, n_groups, sizeof *list);
    double *ranks = agg_alloc(error, n, sizeof *ranks);
    agg_err err = list == NULL || ranks == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
    if (err == SHOAL_OK) {
        for (size_t i = 0; i < n; i++) {
            if (known != NULL && known[i]) continue;
            list[groups[i]].n++;
            list[groups[i]].below += scores[i] < 0;
        }
        for (size_t g = 0; g < n_groups; g++) nothing += weigh(&list[g]);
        for (size_t i = 0; i < n; i++)
            if (upper_tail(scores[i]) <= fdr && (known == NULL || !known[i]))
                ranks[n_ranks++] = upper_tail(scores[i]) / list[groups[i]].weight;
        double most = find_most(ranks, n_ranks, fdr / nothing);
        for (size_t i = 0; i < n; i++) {
            double p = upper_tail(scores[i]);
            confirmed[i] =
                p <= fdr && p / list[groups[i]].weight <= most && (known == NULL || !known[i]);
        }
    }
    free(list);
    free(ranks);
    return err;
}

static size_t count_known(const bool *known, size_t n)
{
    size_t n_known = 0;
    for (size_t i = 0; known != NULL && i < n; i++) n_known += known[i];
    return n_known;
}

agg_err agg_sfp_tiers_confirm(bool *confirmed, agg_error *error, const double *scores,
                              const uint16_t *groups, const bool *known, size_t n, size_t n_groups,
                              double fdr)
{
    agg_err err = confirm_among(confirmed, error, scores, groups, NULL, n, n_groups, fdr);
    if (err != SHOAL_OK || count_known(known, n) == 0) return err;
    bool *others = agg_alloc(error, n, sizeof *others);
    if (others == NULL) return AGG_ERR_MEMORY;
    err = confirm_among(others, error, scores, groups, known, n, n_groups, fdr);
    for (size_t i = 0; err == SHOAL_OK && i < n; i++)
        if (!known[i]) confirmed[i] = others[i];
    free(others);
    return err;
}
