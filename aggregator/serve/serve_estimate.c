// SPDX-License-Identifier: Apache-2.0
// Estimates of closed blocks; see serve_estimate.h.
#include "serve_estimate.h"

#include <stdio.h>
#include <time.h>

#include "recipe.h"
#include "store_growth.h"

static void name_blocks(serve_estimate *made)
{
    made->blocks.n = made->released.n;
    agg_day_print(made->blocks.first, made->released.first_day);
    agg_day_print(made->blocks.last, made->released.last_day);
    made->estimate.blocks = &made->blocks;
}

// Finds what the guarantee rests on: no block is ever smaller than the recipe allows, so the figure
// holds for all of them. Retention merges blocks, but their parts were shown before, so the size of
// today's blocks does not count. The days are those on which the reports arrived.
static agg_err promise(serve_estimate *made, const serve_collection *collection)
{
    const agg_released *released = &made->released;
    const shoal_recipe *recipe = collection->recipe.recipe;
    const agg_release release = {.block = recipe->block_minimum,
                                 .honest = collection->honest,
                                 .days = (uint32_t)(released->last_day - released->first_day + 1)};
    agg_err err =
        agg_guarantee_run(&made->guarantee, &made->error, recipe, made->estimate.n, &release);
    if (err != SHOAL_OK)
        agg_estimate_release(&made->estimate);
    else
        made->estimate.guarantee = &made->guarantee;
    return err;
}

// Adds what only the ledger of blocks knows.
static agg_err compare_growth(serve_estimate *made, const serve_collection *collection,
                              agg_store *store)
{
    agg_growth growth;
    agg_err err = agg_store_growth(store, &growth, &made->error, collection->number,
                                   made->released.last_number);
    if (err != SHOAL_OK)
        agg_estimate_release(&made->estimate);
    else
        agg_alarms_compare_growth(&made->estimate.alarms, growth.newest, growth.usual,
                                  collection->growth_alarm);
    return err;
}

// Adds how the numbers are spread. It is made of the same closed blocks as the estimate, so it says
// nothing about fewer reports.
static agg_err spread(serve_estimate *made, const serve_collection *collection,
                      const agg_accumulator *acc, unsigned n_threads)
{
    agg_distribution_options options = agg_distribution_of_pages(&collection->recipe);
    agg_error error;
    options.n_threads = n_threads;
    agg_err err = agg_distribution_run(&made->spread, &error, &collection->recipe, acc, &options);
    if (err == SHOAL_OK) made->estimate.distribution = &made->spread;
    if (err == SHOAL_OK || err == SHOAL_ERR_RANGE) return SHOAL_OK;
    made->error = error;
    agg_estimate_release(&made->estimate);
    return err;
}

void serve_estimate_make(serve_estimate *made, agg_store *store, const serve_collection *collection,
                         const agg_dictionary *dictionary, agg_span span, bool with_spread,
                         unsigned n_threads)
{
    agg_accumulator acc;
    agg_err err = agg_store_load(store, &acc, &made->released, &made->error, collection->number,
                                 collection->recipe.recipe, span);
    if (err != SHOAL_OK) {
        made->error.code = err;
        return;
    }
    const agg_estimate_options options = {.n_threads = n_threads, .copies = &made->released.copies};
    err = agg_estimate_run(&made->estimate, &made->error, &collection->recipe, &acc, dictionary,
                           &options);
    if (err == SHOAL_OK && with_spread && agg_distribution_is_told(&collection->recipe))
        err = spread(made, collection, &acc, n_threads);
    agg_accumulator_release(&acc);
    if (err == SHOAL_OK) err = promise(made, collection);
    if (err == SHOAL_OK) err = compare_growth(made, collection, store);
    if (err == SHOAL_OK) name_blocks(made);
    made->error.code = err;
}

void serve_estimate_release(serve_estimate *made)
{
    if (made->error.code == SHOAL_OK) agg_estimate_release(&made->estimate);
    agg_distribution_release(&made->spread);
}

unsigned serve_estimate_status(agg_err code)
{
    if (code == AGG_ERR_COHORT) return 403;
    return code == AGG_ERR_IO || code == AGG_ERR_MEMORY ? 503 : 500;
}

agg_error serve_estimate_why_not(const serve_estimate *made, const serve_collection *collection)
{
    agg_error error = made->error;
    if (error.code == AGG_ERR_COHORT) serve_collection_say_too_few(&error, collection, time(NULL));
    return error;
}

void serve_estimate_tell_log(const serve_collection *collection, const agg_error *error)
{
    fprintf(stderr, "shoal: serve: result of %s: %s\n", collection->recipe.id, error->text);
}
