// SPDX-License-Identifier: Apache-2.0
// Loading closed blocks; see store_close.h and store_load.h.
#include "store_load.h"

#include <stdlib.h>

#include "store_close.h"
#include "store_sum.h"

static agg_err load_block(agg_store *store, agg_accumulator *acc, agg_error *error,
                          int64_t collection, const shoal_recipe *recipe, const agg_block *block)
{
    if (block->file[0] != '\0') return agg_store_file_load(store, acc, error, recipe, block->file);
    pthread_mutex_lock(&store->db_mutex);
    agg_err err = agg_store_block_sum(store, acc, error, collection, recipe, block->number);
    pthread_mutex_unlock(&store->db_mutex);
    return err;
}

static agg_err add_block(agg_store *store, agg_accumulator *acc, agg_error *error,
                         int64_t collection, const shoal_recipe *recipe, const agg_block *block)
{
    agg_accumulator next;
    agg_err err = load_block(store, &next, error, collection, recipe, block);
    if (err != SHOAL_OK) return err;
    err = agg_accumulator_merge(acc, error, &next);
    agg_accumulator_release(&next);
    return err;
}

static void add_days(agg_released *released, const agg_block *block)
{
    if (released->n++ == 0) {
        released->first_number = block->first_number;
        released->first_day = block->arrival;
        released->last_day = block->last_day;
    }
    agg_copies_seen_add(&released->copies, &block->copies, released->n == 1);
    released->last_number = block->number;
    if (block->arrival < released->first_day) released->first_day = block->arrival;
    if (block->last_day > released->last_day) released->last_day = block->last_day;
}

// Keeps the blocks of a list that belong to a span.
static size_t pick(agg_block *list, size_t n, agg_released *released, agg_span span)
{
    size_t picked = 0;
    for (size_t i = 0; i < n; i++) {
        if (!agg_span_overlaps((agg_span){list[i].first_day, list[i].last_day}, span)) continue;
        add_days(released, &list[i]);
        list[picked++] = list[i];
    }
    return picked;
}

agg_err agg_store_load_blocks(agg_store *store, agg_accumulator *acc, agg_error *error,
                              int64_t collection, const shoal_recipe *recipe, const agg_block *list,
                              size_t n)
{
    agg_err err = n > 0 ? load_block(store, acc, error, collection, recipe, &list[0])
                        : agg_accumulator_init(acc, error, recipe);
    for (size_t i = 1; err == SHOAL_OK && i < n; i++) {
        err = add_block(store, acc, error, collection, recipe, &list[i]);
        if (err != SHOAL_OK) agg_accumulator_release(acc);
    }
    return err;
}

agg_err agg_store_load(agg_store *store, agg_accumulator *acc, agg_released *released,
                       agg_error *error, int64_t collection, const shoal_recipe *recipe,
                       agg_span span)
{
    agg_released found = {0};
    agg_block *list = NULL;
    size_t n = 0;
    pthread_mutex_lock(&store->files_mutex);
    agg_err err = agg_store_list_blocks(store, &list, &n, error, collection);
    if (err == SHOAL_OK) n = pick(list, n, &found, span);
    if (err == SHOAL_OK)
        err = agg_store_load_blocks(store, acc, error, collection, recipe, list, n);
    pthread_mutex_unlock(&store->files_mutex);
    free(list);
    if (err == SHOAL_OK && released != NULL) *released = found;
    return err;
}

agg_err agg_store_find_released(agg_store *store, agg_released *released, agg_error *error,
                                int64_t collection, agg_span span)
{
    agg_released found = {0};
    agg_block *list = NULL;
    size_t n = 0;
    agg_err err = agg_store_list_blocks(store, &list, &n, error, collection);
    if (err == SHOAL_OK) (void)pick(list, n, &found, span);
    free(list);
    if (err == SHOAL_OK) *released = found;
    return err;
}
