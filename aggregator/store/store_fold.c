// SPDX-License-Identifier: Apache-2.0
// Folding waiting batches into accumulators; see store.h for why a crash is harmless.
#include "store_fold.h"

#include <inttypes.h>
#include <stdlib.h>

#include "agg_file.h"
#include "batch.h"
#include "compound.h"
#include "folder.h"
#include "recipe.h"
#include "store_files.h"

// The fold of one period.
typedef struct fold {
    agg_store *store;
    const shoal_recipe *recipe;
    int64_t collection;
    agg_period period;
    int64_t last;       // the fold takes waiting batches up to this number
    int64_t generation; // of the accumulator that exists; 0 when there is none
    uint64_t n_batches;
    agg_accumulator acc;
} fold;

// ---- planning ----

// A fold takes the batches that wait when it begins, so that it ends: later ones are left to the
// next fold.
static agg_err find_last(fold *f, agg_error *error)
{
    agg_database *database = &f->store->database;
    pthread_mutex_lock(&f->store->db_mutex);
    agg_err err = agg_database_read_integer(
        database, &f->last, error,
        agg_database_bind(database, STATEMENT_WAITING_LAST, &f->collection, 1), "look for batches");
    pthread_mutex_unlock(&f->store->db_mutex);
    return err;
}

// Finds a period that still has batches of this fold. Call with db_mutex held.
static agg_err find_period(fold *f, bool *is_found, agg_error *error)
{
    agg_database *database = &f->store->database;
    const int64_t key[] = {f->collection, f->last};
    sqlite3_stmt *find = agg_database_bind(database, STATEMENT_WAITING_PERIOD, key, 2);
    agg_err err = agg_database_step(database, is_found, error, find, "look for batches");
    if (err == SHOAL_OK && *is_found)
        err = agg_store_read_period(f->store, &f->period, error, find, 0);
    agg_statement_end(find);
    return err;
}

// Finds the next period to fold and the generation of its accumulator.
static agg_err plan(fold *f, bool *is_found, agg_error *error)
{
    agg_database *database = &f->store->database;
    pthread_mutex_lock(&f->store->db_mutex);
    agg_err err = find_period(f, is_found, error);
    if (err == SHOAL_OK && *is_found) {
        const int64_t key[] = {f->collection, f->period.kind, f->period.start};
        err = agg_database_read_integer(
            database, &f->generation, error,
            agg_database_bind(database, STATEMENT_ACCUMULATOR_FIND, key, 3), "find an accumulator");
    }
    pthread_mutex_unlock(&f->store->db_mutex);
    return err;
}

// ---- batches ----

// Copies the next waiting batch, so that puts need not wait while it is folded.
//   bytes: data NULL at the end; free data, also after an error
//   number: of the last batch taken; advances
static agg_err next_batch(fold *f, agg_bytes *bytes, agg_error *error, int64_t *number)
{
    const int64_t key[] = {f->collection, f->period.kind, f->period.start, *number, f->last};
    bool is_row = false;
    pthread_mutex_lock(&f->store->db_mutex);
    agg_database *database = &f->store->database;
    sqlite3_stmt *next = agg_database_bind(database, STATEMENT_WAITING_NEXT, key, 5);
    agg_err err = agg_database_step(database, &is_row, error, next, "read a batch");
    if (err == SHOAL_OK && is_row) {
        *number = sqlite3_column_int64(next, 0);
        err = agg_statement_copy(&bytes->data, &bytes->len, error, next, 1);
    }
    agg_statement_end(next);
    pthread_mutex_unlock(&f->store->db_mutex);
    return err;
}

// The batch was checked before it was put. It is checked again because the disk had it since.
static agg_err add_batch(fold *f, agg_folder *folder, agg_error *error, agg_bytes bytes,
                         int64_t number)
{
    shoal_batch batch;
    agg_err err = shoal_batch_open(&batch, bytes.data, bytes.len, f->recipe, NULL);
    if (err != SHOAL_OK) {
        agg_fail_core(error, err, AGG_EXIT_IO);
        agg_error_prefix(error, "store %s: waiting batch %" PRId64, f->store->database.folder,
                         number);
        return err;
    }
    f->n_batches++;
    return agg_folder_add(folder, error, bytes.data + SHOAL_BATCH_HEADER, batch.count);
}

static agg_err add_batches(fold *f, agg_folder *folder, agg_error *error)
{
    int64_t number = 0;
    for (;;) {
        agg_bytes bytes = {0};
        agg_err err = next_batch(f, &bytes, error, &number);
        bool is_end = bytes.data == NULL;
        if (err == SHOAL_OK && !is_end) err = add_batch(f, folder, error, bytes, number);
        free(bytes.data);
        if (err != SHOAL_OK) return err;
        if (is_end) return agg_folder_flush(folder, error);
    }
}

// ---- generations ----

// Reads the accumulator that exists, or starts an empty one.
static agg_err start_accumulator(fold *f, agg_error *error)
{
    if (f->generation == 0) return agg_accumulator_init(&f->acc, error, f->recipe);
    return agg_store_file_load(f->store, &f->acc, error, f->collection, f->recipe, f->period,
                               f->generation);
}

// Names the new file and deletes the batches that are in it, in one transaction.
static agg_err commit(fold *f, agg_error *error)
{
    agg_database *database = &f->store->database;
    const int64_t kind = f->period.kind, start = f->period.start;
    const int64_t set[] = {f->collection, kind, start, f->generation + 1, (int64_t)f->acc.n};
    const int64_t gone[] = {f->collection, kind, start, f->last};
    pthread_mutex_lock(&f->store->db_mutex);
    agg_err err = agg_database_begin(database, error);
    if (err == SHOAL_OK) {
        err = agg_database_run(database, error,
                               agg_database_bind(database, STATEMENT_ACCUMULATOR_SET, set, 5),
                               "name an accumulator");
        if (err == SHOAL_OK)
            err = agg_database_run(database, error,
                                   agg_database_bind(database, STATEMENT_WAITING_DELETE, gone, 4),
                                   "delete batches");
        err = agg_database_end(database, error, err, "commit a fold");
    }
    if (err == SHOAL_OK) (void)agg_database_checkpoint(database); // else at the next fold
    pthread_mutex_unlock(&f->store->db_mutex);
    return err;
}

// Saves the next generation, names it and removes the file of the last one.
static agg_err replace_generation(fold *f, agg_error *error)
{
    agg_err err =
        agg_store_file_save(f->store, &f->acc, error, f->collection, f->period, f->generation + 1);
    if (err == SHOAL_OK) err = commit(f, error);
    // After a failed commit the database still names the old file, or it is unknown which one. Both
    // files stay then.
    if (err == SHOAL_OK && f->generation > 0)
        agg_store_file_remove(f->store, f->collection, f->period, f->generation);
    return err;
}

static agg_err fold_period(fold *f, agg_error *error, unsigned n_threads)
{
    agg_err err = start_accumulator(f, error);
    if (err != SHOAL_OK) return err;
    agg_folder folder;
    err = agg_folder_init(&folder, error, &f->acc, f->store->fold_bytes, n_threads);
    if (err == SHOAL_OK) {
        err = add_batches(f, &folder, error);
        agg_folder_release(&folder);
    }
    if (err == SHOAL_OK) err = replace_generation(f, error);
    agg_accumulator_release(&f->acc);
    return err;
}

agg_err agg_store_fold(agg_store *store, uint64_t *n_batches, agg_error *error, int64_t collection,
                       const shoal_recipe *recipe, unsigned n_threads)
{
    fold f = {.store = store, .recipe = recipe, .collection = collection};
    pthread_mutex_lock(&store->fold_mutex);
    agg_err err = find_last(&f, error);
    bool is_found = f.last > 0;
    while (err == SHOAL_OK && is_found) {
        err = plan(&f, &is_found, error);
        if (err == SHOAL_OK && is_found) err = fold_period(&f, error, n_threads);
    }
    pthread_mutex_unlock(&store->fold_mutex);
    *n_batches = f.n_batches;
    return err;
}

void agg_store_set_fold_bytes(agg_store *store, size_t bytes)
{
    store->fold_bytes = bytes;
}

// ---- forgetting ----

// Returns: the last day on which a period's records are kept. A period that never closes takes
// records until the recipe expires.
static int64_t last_kept_day(agg_period period, const shoal_recipe *recipe)
{
    int64_t last = agg_period_span(period).last;
    if (period.kind == AGG_PERIOD_ALL) last = recipe->expires_day;
    return last + recipe->keep_days;
}

// Rewrites the period's accumulator without its records, if it has any.
static agg_err forget_period(fold *f, uint64_t *n_periods, agg_error *error)
{
    bool has_records = false;
    agg_err err =
        agg_store_file_peek(f->store, &has_records, error, f->collection, f->period, f->generation);
    if (err != SHOAL_OK || !has_records) return err;
    err = start_accumulator(f, error);
    if (err != SHOAL_OK) return err;
    agg_accumulator_forget(&f->acc);
    err = replace_generation(f, error);
    agg_accumulator_release(&f->acc);
    *n_periods += err == SHOAL_OK;
    return err;
}

agg_err agg_store_forget(agg_store *store, uint64_t *n_periods, agg_error *error,
                         int64_t collection, const shoal_recipe *recipe, int32_t today)
{
    fold f = {.store = store, .recipe = recipe, .collection = collection};
    agg_stored *list = NULL;
    size_t n = 0;
    *n_periods = 0;
    if (!shoal_recipe_keeps_records(recipe)) return SHOAL_OK;
    pthread_mutex_lock(&store->fold_mutex);
    agg_err err = agg_store_files_list(store, &list, &n, error, collection);
    for (size_t i = 0; err == SHOAL_OK && i < n; i++) {
        if (today <= last_kept_day(list[i].period, recipe)) continue;
        f.period = list[i].period;
        f.generation = list[i].generation;
        err = forget_period(&f, n_periods, error);
    }
    pthread_mutex_unlock(&store->fold_mutex);
    free(list);
    return err;
}
