// SPDX-License-Identifier: Apache-2.0
// Folding waiting batches into accumulators; see store.h for why a crash is harmless.
#include "store_fold.h"

#include <inttypes.h>
#include <stdlib.h>

#include "agg_batch.h"
#include "agg_file.h"
#include "compound.h"
#include "folder.h"
#include "recipe.h"
#include "store_copies.h"
#include "store_files.h"

// The fold of one block.
typedef struct fold {
    agg_store *store;
    const shoal_recipe *recipe;
    int64_t collection;
    agg_block before, after; // the block's row; both are the same until the accumulator is saved
    int64_t last;            // the fold takes waiting batches up to this number
    uint64_t n_batches;
    agg_accumulator acc;
    agg_store_table *table; // of the collection's copies; NULL where they are not counted
} fold;

// A fold takes the batches that wait when it begins, so that it ends: later ones are left to the
// next fold.
static agg_err plan(fold *f, agg_error *error)
{
    agg_database *database = &f->store->database;
    pthread_mutex_lock(&f->store->db_mutex);
    agg_err err = agg_database_read_integer(
        database, &f->last, error,
        agg_database_bind(database, STATEMENT_WAITING_LAST, &f->collection, 1), "look for batches");
    if (err == SHOAL_OK) err = agg_store_find_open(f->store, &f->before, error, f->collection);
    pthread_mutex_unlock(&f->store->db_mutex);
    f->after = f->before;
    return err;
}

// ---- batches ----

// Copies the next waiting batch, so that puts need not wait while it is folded.
//   bytes: data NULL at the end; free data, also after an error
//   number: of the last batch taken; advances
static agg_err next_batch(fold *f, agg_bytes *bytes, agg_error *error, int64_t *number)
{
    const int64_t key[] = {f->collection, *number, f->last};
    bool is_row = false;
    pthread_mutex_lock(&f->store->db_mutex);
    agg_database *database = &f->store->database;
    sqlite3_stmt *next = agg_database_bind(database, STATEMENT_WAITING_NEXT, key, 3);
    agg_err err = agg_database_step(database, &is_row, error, next, "read a batch");
    if (err == SHOAL_OK && is_row) {
        int32_t arrival = (int32_t)sqlite3_column_int64(next, 2);
        *number = sqlite3_column_int64(next, 0);
        err = agg_statement_copy(&bytes->data, &bytes->len, error, next, 1);
        if (arrival < f->after.arrival) f->after.arrival = arrival;
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
    agg_err err = agg_batch_open(&batch, bytes.data, bytes.len, f->recipe, NULL);
    if (err != SHOAL_OK) {
        agg_fail_core(error, err, AGG_EXIT_IO);
        agg_error_prefix(error, "store %s: waiting batch %" PRId64, f->store->database.folder,
                         number);
        return err;
    }
    f->n_batches++;
    if (f->table != NULL) agg_copies_add(&f->table->copies, bytes.data + batch.header, batch.count);
    return agg_folder_add(folder, error, bytes.data + batch.header, batch.count);
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
    return f->before.file[0] == '\0'
               ? agg_accumulator_init(&f->acc, error, f->recipe)
               : agg_store_file_load(f->store, &f->acc, error, f->recipe, f->before.file);
}

// Names the new file in the open block's row and deletes the batches that are in it.
static agg_err set_folded(fold *f, agg_error *error)
{
    agg_database *database = &f->store->database;
    const int64_t gone[] = {f->collection, f->last};
    f->after.records = (int64_t)f->acc.n;
    agg_err err = agg_store_set_block(f->store, error, f->collection, &f->after, false, NULL, 0);
    if (err != SHOAL_OK) return err;
    return agg_database_run(database, error,
                            agg_database_bind(database, STATEMENT_WAITING_DELETE, gone, 2),
                            "delete batches");
}

// Names the new file of a block that forgot its records.
static agg_err set_forgotten(fold *f, agg_error *error)
{
    agg_database *database = &f->store->database;
    const int64_t row[] = {f->collection, f->after.number, f->after.generation};
    sqlite3_stmt *set = agg_database_bind(database, STATEMENT_BLOCK_FILE, row, 3);
    sqlite3_bind_text(set, 4, f->after.file, -1, SQLITE_STATIC);
    return agg_database_run(database, error, set, "name an accumulator");
}

// Saves the next generation, names it in one transaction and removes the file of the last one.
static agg_err replace_generation(fold *f, agg_error *error,
                                  agg_err (*set)(fold *f, agg_error *error))
{
    agg_database *database = &f->store->database;
    f->after.generation++;
    agg_block_name_file(&f->after, f->collection);
    agg_err err = agg_store_file_save(f->store, &f->acc, error, f->after.file);
    if (err != SHOAL_OK) return err;
    pthread_mutex_lock(&f->store->db_mutex);
    err = agg_database_begin(database, error);
    if (err == SHOAL_OK) err = agg_database_end(database, error, set(f, error), "commit a fold");
    if (err == SHOAL_OK) (void)agg_database_checkpoint(database); // else at the next fold
    pthread_mutex_unlock(&f->store->db_mutex);
    // After a failed commit the database still names the old file, or it is unknown which one. Both
    // files stay then.
    if (err == SHOAL_OK && f->before.file[0] != '\0')
        agg_store_file_remove(f->store, f->before.file);
    return err;
}

static agg_err fold_waiting(fold *f, agg_error *error, unsigned n_threads)
{
    agg_err err = start_accumulator(f, error);
    if (err != SHOAL_OK) return err;
    agg_folder folder;
    err = agg_folder_init(&folder, error, &f->acc, f->store->fold_bytes, n_threads);
    if (err == SHOAL_OK) {
        err = add_batches(f, &folder, error);
        agg_folder_release(&folder);
    }
    if (err == SHOAL_OK) err = replace_generation(f, error, set_folded);
    agg_accumulator_release(&f->acc);
    return err;
}

agg_err agg_store_fold(agg_store *store, uint64_t *n_batches, agg_error *error, int64_t collection,
                       const shoal_recipe *recipe, unsigned n_threads)
{
    fold f = {.store = store, .recipe = recipe, .collection = collection};
    pthread_mutex_lock(&store->fold_mutex);
    agg_err err = plan(&f, error);
    f.table = agg_store_table_of(store, collection);
    if (err == SHOAL_OK && f.last > 0) err = fold_waiting(&f, error, n_threads);
    if (err != SHOAL_OK && f.n_batches > 0) agg_store_table_spoil(f.table); // they come again
    pthread_mutex_unlock(&store->fold_mutex);
    *n_batches = f.n_batches;
    return err;
}

void agg_store_set_fold_bytes(agg_store *store, size_t bytes)
{
    store->fold_bytes = bytes;
}

// ---- forgetting ----

// Rewrites the block's accumulator without its records, if it has any.
static agg_err forget_block(fold *f, uint64_t *n_blocks, agg_error *error)
{
    bool has_records = false;
    if (f->before.file[0] == '\0') return SHOAL_OK;
    agg_err err = agg_store_file_peek(f->store, &has_records, error, f->before.file);
    if (err != SHOAL_OK || !has_records) return err;
    err = start_accumulator(f, error);
    if (err != SHOAL_OK) return err;
    agg_accumulator_forget(&f->acc);
    f->after = f->before;
    err = replace_generation(f, error, set_forgotten);
    agg_accumulator_release(&f->acc);
    *n_blocks += err == SHOAL_OK;
    return err;
}

// The open block's records go once the recipe is over for keep_days: it may never hold enough to
// close.
static agg_err forget_open(fold *f, uint64_t *n_blocks, agg_error *error, int32_t today)
{
    if (today <= (int64_t)f->recipe->expires_day + f->recipe->keep_days) return SHOAL_OK;
    pthread_mutex_lock(&f->store->db_mutex);
    agg_err err = agg_store_find_open(f->store, &f->before, error, f->collection);
    pthread_mutex_unlock(&f->store->db_mutex);
    return err == SHOAL_OK ? forget_block(f, n_blocks, error) : err;
}

agg_err agg_store_forget(agg_store *store, uint64_t *n_blocks, agg_error *error, int64_t collection,
                         const shoal_recipe *recipe, int32_t today)
{
    fold f = {.store = store, .recipe = recipe, .collection = collection};
    agg_block *list = NULL;
    size_t n = 0;
    *n_blocks = 0;
    if (!shoal_recipe_keeps_records(recipe)) return SHOAL_OK;
    pthread_mutex_lock(&store->fold_mutex);
    agg_err err = agg_store_list_blocks(store, &list, &n, error, collection);
    for (size_t i = 0; err == SHOAL_OK && i < n; i++) {
        if (today <= (int64_t)list[i].last_day + recipe->keep_days) continue;
        f.before = list[i];
        err = forget_block(&f, n_blocks, error);
    }
    if (err == SHOAL_OK) err = forget_open(&f, n_blocks, error, today);
    pthread_mutex_unlock(&store->fold_mutex);
    free(list);
    return err;
}
