// SPDX-License-Identifier: Apache-2.0
// Tells accumulators that hold the same reports; see apart.h.
#include "apart.h"

#include <stdbool.h>
#include <string.h>

#include "recipe.h"

static bool is_same_sketch(const agg_sketch *x, const agg_sketch *y)
{
    return x->n_cells == y->n_cells &&
           memcmp(x->cells.ones, y->cells.ones, (size_t)x->n_cells * sizeof *x->cells.ones) == 0;
}

// Refuses two accumulators that count batches of the same manifest.
static agg_err check_manifests(agg_error *error, const agg_recipe *recipe, const agg_accumulator *a,
                               const agg_accumulator *b)
{
    char text[AGG_MANIFEST_TEXT];
    const agg_shard_claims *x = &a->shards, *y = &b->shards;
    for (size_t i = 0; i < x->n; i++)
        for (size_t j = 0; j < y->n; j++)
            if (memcmp(x->list[i].manifest, y->list[j].manifest, 32) == 0)
                return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                                "the two accumulators of recipe %s hold the same reports, those of "
                                "manifest %s: a difference needs two collections that share none",
                                recipe->id, agg_manifest_print(text, x->list[i].manifest));
    return SHOAL_OK;
}

agg_err agg_check_apart(agg_error *error, const agg_recipe *recipe, const agg_accumulator *x,
                        const agg_accumulator *y)
{
    char text[AGG_CLAIM_TEXT];
    const uint8_t *shared = agg_claims_shared(&x->claims, &y->claims);
    if (shared != NULL)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "the two accumulators of recipe %s hold the same reports, those of the "
                        "batch or file %s: a difference needs two collections that share none",
                        recipe->id, agg_claim_print(text, shared));
    agg_err err = check_manifests(error, recipe, x, y);
    if (err != SHOAL_OK) return err;
    bool is_same = memcmp(x->recipe_hash, y->recipe_hash, sizeof x->recipe_hash) == 0 &&
                   x->n == y->n && x->n > 0;
    uint64_t n_cells = 0;
    for (uint32_t i = 0; is_same && i < x->n_parts; i++) {
        n_cells += x->parts[i].n_cells;
        is_same = is_same_sketch(&x->parts[i], &y->parts[i]);
    }
    if (!is_same || n_cells < 2) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                    "the two accumulators of recipe %s hold the same reports: a difference needs "
                    "two collections that share none",
                    recipe->id);
}
