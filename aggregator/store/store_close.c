// SPDX-License-Identifier: Apache-2.0
// Closing blocks; see store_close.h. Time is an argument.
#include "store_close.h"

#include "recipe.h"
#include "store_copies.h"
#include "store_sum.h"

// Closes the open block if it holds enough. Call inside a transaction.
static agg_err close_open(agg_store *store, uint64_t *n_records, agg_error *error,
                          int64_t collection, const shoal_recipe *recipe, int64_t tick)
{
    agg_database *database = &store->database;
    agg_block open;
    int64_t last_day = 0;
    agg_err err = agg_store_find_open(store, &open, error, collection);
    if (err != SHOAL_OK || open.records < recipe->block_minimum) return err;
    err = agg_database_read_integer(
        database, &last_day, error,
        agg_database_bind(database, STATEMENT_BLOCK_LAST_DAY, &collection, 1),
        "read a block's day");
    if (err != SHOAL_OK) return err;
    int64_t day = agg_tick_day(tick);
    const int64_t row[] = {collection, day > last_day ? day : last_day};
    err = agg_database_run(database, error,
                           agg_database_bind(database, STATEMENT_BLOCK_CLOSE, row, 2),
                           "close a block");
    if (err == SHOAL_OK)
        err = agg_store_enter_copies(store, error, collection, open.number, open.records);
    if (err == SHOAL_OK) *n_records = (uint64_t)open.records;
    return err;
}

// Notes the tick, and closes the open block if the tick is a later one.
static agg_err note_tick(agg_store *store, uint64_t *n_records, agg_error *error,
                         int64_t collection, const shoal_recipe *recipe, int64_t tick)
{
    agg_database *database = &store->database;
    const int64_t row[] = {collection, tick};
    int64_t before = 0;
    agg_err err = agg_database_read_integer(
        database, &before, error, agg_database_bind(database, STATEMENT_TICK, &collection, 1),
        "read the last tick");
    if (err != SHOAL_OK || before == tick) return err;
    err = agg_database_begin(database, error);
    if (err != SHOAL_OK) return err;
    err = agg_database_run(database, error, agg_database_bind(database, STATEMENT_TICK_SET, row, 2),
                           "note a tick");
    if (err == SHOAL_OK && before != 0 && tick > before)
        err = close_open(store, n_records, error, collection, recipe, tick);
    return agg_database_end(database, error, err, "close a block");
}

agg_err agg_store_close_block(agg_store *store, uint64_t *n_records, agg_error *error,
                              int64_t collection, const shoal_recipe *recipe, int64_t now_s,
                              uint32_t tick_s)
{
    uint64_t closed = 0;
    pthread_mutex_lock(&store->fold_mutex);
    pthread_mutex_lock(&store->db_mutex);
    agg_err err =
        note_tick(store, &closed, error, collection, recipe, agg_tick_before(now_s, tick_s));
    if (err == SHOAL_OK && closed > 0) agg_store_clear_copies(store, collection);
    agg_store_drop_old_sums(store);
    pthread_mutex_unlock(&store->db_mutex);
    pthread_mutex_unlock(&store->fold_mutex);
    *n_records = err == SHOAL_OK ? closed : 0;
    return err;
}
