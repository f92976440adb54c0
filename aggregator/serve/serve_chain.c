// SPDX-License-Identifier: Apache-2.0
// Rounds of one analysis; see serve_chain.h.
#include "serve_chain.h"

#include <string.h>

#include "input_memory.h"
#include "recipe.h"
#include "serve_epochs.h"
#include "static_analysis.h"
#include "store_releases.h"
#include "track_series.h"

// Finds a round before or after another one, among the collections that the reader may read.
//   n: set to how many there are; the first one in the configuration counts
// Returns: NULL if there is none.
static const serve_collection *neighbour(size_t *n, const serve_job *job,
                                         const serve_collection *of, bool is_after)
{
    const serve_collection *found = NULL;
    *n = 0;
    for (size_t i = 0; i < job->set->collections.n; i++) {
        const serve_collection *one = &job->set->collections.list[i];
        if (job->scope != NULL && !job->scope[i]) continue;
        bool follows = is_after ? agg_analysis_follows(&one->recipe, &of->recipe)
                                : agg_analysis_follows(&of->recipe, &one->recipe);
        if (!follows) continue;
        if ((*n)++ == 0) found = one;
    }
    return found;
}

static uint64_t cells_of(const serve_collection *one)
{
    const shoal_encoding *encoding = &one->recipe.recipe->encoding;
    uint64_t cells = 1; // at most SHOAL_DOMAIN_SIZE_MAX
    for (uint32_t i = 0; i < encoding->n_fields; i++) cells *= encoding->fields[i].size;
    return cells;
}

static void turn_round(const serve_collection **list, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        const serve_collection *swapped = list[i];
        list[i] = list[n - 1 - i];
        list[n - 1 - i] = swapped;
    }
}

// Adds the rounds on one side of the last one. A hash names a query that was there before it, so
// that no chain comes back to where it began; but the first round may have no number.
static void add_side(serve_chain *chain, const serve_job *job, bool is_after)
{
    for (;;) {
        size_t n;
        const serve_collection *next = neighbour(&n, job, chain->list[chain->n - 1], is_after);
        if (is_after && n > 1) chain->n_branches += n - 1;
        if (next == NULL) return;
        const uint64_t cells = chain->cells + cells_of(next);
        chain->is_cut = chain->n == SERVE_CHAIN_MAX || cells > SERVE_CHAIN_CELLS;
        if (chain->is_cut) return;
        chain->list[chain->n++] = next;
        chain->cells = cells;
    }
}

void serve_chain_find(serve_chain *chain, const serve_job *job)
{
    *chain = (serve_chain){.list = {job->collection}, .n = 1};
    if (!agg_analysis_has_rounds(&job->collection->recipe)) return;
    chain->cells = cells_of(job->collection);
    add_side(chain, job, false);
    turn_round(chain->list, chain->n);
    const bool is_cut = chain->is_cut;
    add_side(chain, job, true);
    chain->is_cut = chain->is_cut || is_cut;
}

bool serve_chain_is_told(const serve_job *job)
{
    size_t n;
    const agg_recipe *recipe = &job->collection->recipe;
    if (!agg_analysis_has_rounds(recipe)) return false;
    return agg_analysis_finds(recipe) || neighbour(&n, job, job->collection, false) != NULL ||
           neighbour(&n, job, job->collection, true) != NULL;
}

// Returns: the bytes that the run of a recipe takes, with what each update measured of strings.
static uint64_t run_memory(const shoal_recipe *recipe)
{
    const uint64_t sums =
        (uint64_t)shoal_evolving_stated(recipe).projection * (uint64_t)sizeof(int32_t);
    return cli_accumulator_memory(NULL, recipe) +
           recipe->epochs * ((uint64_t)sizeof(agg_track_row) + sums) +
           SERVE_EPOCHS_MAX * (uint64_t)sizeof(agg_release_sum) + SERVE_EPOCHS_ITEMS;
}

uint64_t serve_chain_memory(const serve_collections *collections, unsigned n_threads)
{
    uint64_t sums = 0, most = 0;
    for (size_t i = 0; i < collections->n; i++) {
        const agg_recipe *recipe = &collections->list[i].recipe;
        const uint64_t run = recipe->recipe->epochs > 0 ? run_memory(recipe->recipe) : 0;
        if (run > most) most = run;
        if (!agg_analysis_has_rounds(recipe)) continue;
        const uint64_t one = cli_accumulator_memory(NULL, recipe->recipe),
                       making = one + agg_analysis_memory(recipe, one, n_threads);
        if (agg_analysis_finds(recipe)) sums += one; // rounds of a trie are in memory together
        if (making > most) most = making;
    }
    return sums + most;
}
