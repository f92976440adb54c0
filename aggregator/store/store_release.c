// SPDX-License-Identifier: Apache-2.0
// Releasing and loading sums; see store_release.h. Time is an argument.
#include "store_release.h"

#include <stdlib.h>

#include "agg_size.h"
#include "recipe.h"
#include "store_files.h"
#include "store_sum.h"

// One period's sum in the database.
typedef struct listed {
    agg_period period;
    int64_t records, released; // in the sum; in its release, 0 before
    int32_t block;             // first day of the block, once released
} listed;

// Reads all rows of a statement: kind, start, records, released records, block.
static agg_err read_rows(agg_store *store, listed **list, size_t *n, agg_error *error,
                         sqlite3_stmt *statement)
{
    size_t cap = 0;
    for (;;) {
        bool is_row = false;
        agg_err err = agg_database_step(&store->database, &is_row, error, statement, "list sums");
        if (err != SHOAL_OK || !is_row) return err;
        err = agg_grow((void **)list, &cap, *n + 1, sizeof **list, error);
        if (err != SHOAL_OK) return err;
        listed *one = &(*list)[*n];
        err = agg_store_read_period(store, &one->period, error, statement, 0);
        if (err != SHOAL_OK) return err;
        one->records = sqlite3_column_int64(statement, 2);
        one->released = sqlite3_column_int64(statement, 3);
        one->block = (int32_t)sqlite3_column_int64(statement, 4);
        ++*n;
    }
}

// Lists sums. Call with db_mutex held.
//   list: free it, also after an error
static agg_err list_rows(agg_store *store, listed **list, size_t *n, agg_error *error,
                         enum statement number, int64_t collection)
{
    sqlite3_stmt *statement = agg_database_bind(&store->database, number, &collection, 1);
    agg_err err = read_rows(store, list, n, error, statement);
    agg_statement_end(statement);
    return err;
}

// Returns: whether no batch of `today` or later counts in the period. A period that never closes
// counts as closed: it is released as it grows.
static bool is_closed(agg_period period, int32_t today)
{
    return period.kind == AGG_PERIOD_ALL || agg_period_span(period).last < today;
}

static agg_err release_one(agg_store *store, uint64_t *n_records, agg_error *error,
                           int64_t collection, const listed *one, int32_t block)
{
    const int64_t row[] = {collection, one->period.kind, one->period.start, block};
    agg_err err = agg_database_run(&store->database, error,
                                   agg_database_bind(&store->database, STATEMENT_RELEASE, row, 4),
                                   "release a sum");
    if (err == SHOAL_OK) *n_records += (uint64_t)(one->records - one->released);
    return err;
}

// Releases the sums list[first .. last] as one block, except those that are released or open.
static agg_err release_block(agg_store *store, uint64_t *n_records, agg_error *error,
                             int64_t collection, const listed *list, size_t first, size_t last,
                             int32_t today)
{
    agg_err err = SHOAL_OK;
    for (size_t i = first; err == SHOAL_OK && i <= last; i++) {
        if (list[i].released > 0 || !is_closed(list[i].period, today)) continue;
        err = release_one(store, n_records, error, collection, &list[i], list[first].period.start);
    }
    return err;
}

// Walks the sums in the order of time and releases at least the minimum of new records in each
// step: of one sum that was released before, or of closed neighbours that were not.
static agg_err release_due(agg_store *store, uint64_t *n_records, agg_error *error,
                           int64_t collection, const shoal_recipe *recipe, const listed *list,
                           size_t n, int32_t today)
{
    const int64_t minimum = recipe->cohort_minimum;
    int64_t gathered = 0;
    size_t first = 0;
    agg_err err = SHOAL_OK;
    for (size_t i = 0; err == SHOAL_OK && i < n; i++) {
        const listed *one = &list[i];
        int64_t fresh = one->records - one->released;
        if (one->released > 0) {
            if (fresh >= minimum)
                err = release_one(store, n_records, error, collection, one, one->block);
            continue;
        }
        if (!is_closed(one->period, today)) continue;
        if (gathered == 0 || list[first].period.kind != one->period.kind) {
            first = i;
            gathered = 0;
        }
        gathered += fresh;
        if (gathered < minimum) continue;
        err = release_block(store, n_records, error, collection, list, first, i, today);
        gathered = 0;
    }
    return err;
}

// Overwrites replaced sums in the write-ahead log too.
static void drop_old_sums(agg_store *store)
{
    if (store->has_old_sums && agg_database_checkpoint(&store->database))
        store->has_old_sums = false;
}

static agg_err release_locked(agg_store *store, uint64_t *n_records, agg_error *error,
                              int64_t collection, const shoal_recipe *recipe, int32_t today)
{
    listed *list = NULL;
    size_t n = 0;
    agg_err err = agg_database_begin(&store->database, error);
    if (err != SHOAL_OK) return err;
    err = list_rows(store, &list, &n, error, STATEMENT_SUMS, collection);
    if (err == SHOAL_OK)
        err = release_due(store, n_records, error, collection, recipe, list, n, today);
    free(list);
    err = agg_database_end(&store->database, error, err, "release sums");
    if (err == SHOAL_OK) drop_old_sums(store);
    return err;
}

agg_err agg_store_release(agg_store *store, uint64_t *n_records, agg_error *error,
                          int64_t collection, const shoal_recipe *recipe, int32_t today)
{
    uint64_t released = 0;
    agg_err err = SHOAL_OK;
    if (recipe->aggregation == SHOAL_AGGREGATION_SUM) {
        pthread_mutex_lock(&store->db_mutex);
        err = release_locked(store, &released, error, collection, recipe, today);
        pthread_mutex_unlock(&store->db_mutex);
    }
    *n_records = err == SHOAL_OK ? released : 0;
    return err;
}

static agg_err read_released(agg_store *store, agg_accumulator *acc, agg_error *error,
                             const shoal_recipe *recipe, sqlite3_stmt *find)
{
    bool is_row = false;
    agg_err err = agg_database_step(&store->database, &is_row, error, find, "read a sum");
    if (err != SHOAL_OK) return err;
    if (!is_row)
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "store %s: a released sum is missing",
                        store->database.folder);
    return agg_store_read_sum(store, acc, error, recipe, find);
}

// Adds a sum to `acc` as it was when it was released.
static agg_err add_released(agg_store *store, agg_accumulator *acc, agg_error *error,
                            int64_t collection, const shoal_recipe *recipe, agg_period period)
{
    const int64_t key[] = {collection, period.kind, period.start};
    agg_accumulator next;
    pthread_mutex_lock(&store->db_mutex);
    sqlite3_stmt *find = agg_database_bind(&store->database, STATEMENT_RELEASED_FIND, key, 3);
    agg_err err = read_released(store, &next, error, recipe, find);
    agg_statement_end(find);
    pthread_mutex_unlock(&store->db_mutex);
    if (err != SHOAL_OK) return err;
    err = agg_accumulator_merge(acc, error, &next);
    agg_accumulator_release(&next);
    return err;
}

// Finds the end of the block that begins at list[first], and the days from its first to its last.
static size_t find_block(agg_span *days, const listed *list, size_t n, size_t first)
{
    size_t end = first;
    *days = agg_period_span(list[first].period);
    for (; end < n && list[end].period.kind == list[first].period.kind &&
           list[end].block == list[first].block;
         end++) {
        agg_span own = agg_period_span(list[end].period);
        if (own.first < days->first) days->first = own.first;
        if (own.last > days->last) days->last = own.last;
    }
    return end;
}

static agg_err load_blocks(agg_store *store, agg_accumulator *acc, agg_error *error,
                           int64_t collection, const shoal_recipe *recipe, const listed *list,
                           size_t n, agg_span span)
{
    agg_err err = SHOAL_OK;
    for (size_t first = 0, end; err == SHOAL_OK && first < n; first = end) {
        agg_span days;
        end = find_block(&days, list, n, first);
        if (days.last < span.first || days.first > span.last) continue;
        if (days.first < span.first || days.last > span.last)
            err = agg_store_fail_across(error, days);
        for (size_t i = first; err == SHOAL_OK && i < end; i++)
            err = add_released(store, acc, error, collection, recipe, list[i].period);
    }
    return err;
}

agg_err agg_store_load_released(agg_store *store, agg_accumulator *acc, agg_error *error,
                                int64_t collection, const shoal_recipe *recipe, agg_span span)
{
    listed *list = NULL;
    size_t n = 0;
    agg_err err = agg_accumulator_init(acc, error, recipe);
    if (err != SHOAL_OK) return err;
    pthread_mutex_lock(&store->db_mutex);
    err = list_rows(store, &list, &n, error, STATEMENT_RELEASED, collection);
    pthread_mutex_unlock(&store->db_mutex);
    if (err == SHOAL_OK) err = load_blocks(store, acc, error, collection, recipe, list, n, span);
    if (err != SHOAL_OK) agg_accumulator_release(acc);
    free(list);
    return err;
}
