// SPDX-License-Identifier: Apache-2.0
// Rounds of an analysis; see static_rounds.h.
#include "static_rounds.h"

#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "discover.h"
#include "recipe.h"

// ---- which rounds belong together ----

static bool is_same_name(const shoal_name *a, const shoal_name *b)
{
    return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

static bool is_same_analysis(const agg_recipe *a, const agg_recipe *b)
{
    return a->recipe->mechanism == b->recipe->mechanism &&
           is_same_name(&a->recipe->analysis, &b->recipe->analysis) &&
           is_same_name(&a->recipe->stream, &b->recipe->stream);
}

static int by_index(const void *a, const void *b)
{
    uint32_t x = ((const agg_static_report *)a)->recipe->recipe->round_index,
             y = ((const agg_static_report *)b)->recipe->recipe->round_index;
    return (x > y) - (x < y);
}

// Makes one report of rounds that are sorted.
static agg_err join(agg_static_report *joined, agg_error *error, agg_static_report *rounds,
                    size_t n)
{
    const agg_list *known = NULL;
    const agg_recipe *next = n > 1 && rounds[n - 1].n == 0 ? rounds[n - 1].recipe : NULL;
    for (size_t i = 0; i < n; i++) {
        if (rounds[i].n == 0 && rounds[i].recipe != next)
            return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                            "none of the accumulators is of recipe %s: only the last of several "
                            "rounds may have none",
                            rounds[i].recipe->id);
        if (rounds[i].known == NULL || rounds[i].known->n == 0) continue;
        if (known != NULL)
            return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                            "--dictionary is given for two rounds of one analysis: give all known "
                            "words for one of them");
        known = rounds[i].known;
    }
    *joined = rounds[0];
    joined->known = known;
    joined->rounds = rounds;
    joined->n_rounds = n - (next != NULL);
    joined->next = next;
    return SHOAL_OK;
}

agg_err agg_static_rounds_join(agg_static_report *reports, size_t *n, agg_static_report *rounds,
                               agg_error *error)
{
    size_t n_joined = 0, n_rounds = 0;
    agg_err err = SHOAL_OK;
    agg_static_report *all = agg_alloc(error, *n, sizeof *all);
    if (all == NULL) return AGG_ERR_MEMORY;
    memcpy(all, reports, *n * sizeof *all);
    for (size_t i = 0; err == SHOAL_OK && i < *n; i++) {
        const agg_recipe *recipe = all[i].recipe;
        size_t first = n_rounds;
        if (recipe == NULL) continue; // a round that was joined
        reports[n_joined] = all[i];
        if (all[i].finds && agg_discover_takes_rounds(recipe)) {
            for (size_t j = i; j < *n; j++) {
                if (all[j].recipe == NULL || !is_same_analysis(recipe, all[j].recipe)) continue;
                rounds[n_rounds++] = all[j];
                all[j].recipe = NULL;
            }
            qsort(&rounds[first], n_rounds - first, sizeof *rounds, by_index);
            err = join(&reports[n_joined], error, &rounds[first], n_rounds - first);
        }
        n_joined++;
    }
    free(all);
    if (err == SHOAL_OK) *n = n_joined;
    return err;
}
