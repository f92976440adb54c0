// SPDX-License-Identifier: Apache-2.0
// The store as a whole; see store.h.
#include "store.h"

#include <stdlib.h>

#include "agg_size.h"
#include "compound.h"
#include "recipe.h"
#include "store_batch.h"
#include "store_copies.h"
#include "store_files.h"
#include "store_migrate.h"
#include "store_sum.h"

agg_err agg_store_open(agg_store **store, agg_error *error, const char *folder)
{
    agg_store *made = agg_alloc(error, 1, sizeof *made);
    if (made == NULL) return AGG_ERR_MEMORY;
    made->database.lock_fd = -1;
    made->fold_bytes = AGG_STORE_FOLD_BYTES;
    pthread_mutex_init(&made->db_mutex, NULL);
    pthread_mutex_init(&made->files_mutex, NULL);
    pthread_mutex_init(&made->fold_mutex, NULL);
    pthread_mutex_init(&made->sum_mutex, NULL);
    pthread_cond_init(&made->sum_done, NULL);
    made->sum_last = &made->sum_first;
    made->has_old_sums = true; // a crash may have left some in the log
    agg_err err = agg_store_open_database(made, error, folder);
    if (err == SHOAL_OK) err = agg_store_files_open(made, error);
    if (err != SHOAL_OK) {
        agg_store_close(made);
        return err;
    }
    *store = made;
    return SHOAL_OK;
}

void agg_store_close(agg_store *store)
{
    if (store == NULL) return;
    agg_database_close(&store->database);
    agg_store_release_tables(store);
    pthread_mutex_destroy(&store->db_mutex);
    pthread_mutex_destroy(&store->files_mutex);
    pthread_mutex_destroy(&store->fold_mutex);
    pthread_mutex_destroy(&store->sum_mutex);
    pthread_cond_destroy(&store->sum_done);
    free(store);
}

static agg_err add_recipe(agg_store *store, int64_t *collection, agg_error *error,
                          const shoal_recipe *recipe)
{
    sqlite3_stmt *add = agg_database_bind(&store->database, STATEMENT_RECIPE_ADD, NULL, 0);
    agg_statement_bind_bytes(add, 1, recipe->recipe_hash, 32);
    sqlite3_bind_text(add, 2, recipe->recipe.bytes, recipe->recipe.len, SQLITE_STATIC);
    agg_err err = agg_database_run(&store->database, error, add, "enter a recipe");
    if (err == SHOAL_OK) *collection = sqlite3_last_insert_rowid(store->database.db);
    return err;
}

static agg_err find_recipe(agg_store *store, int64_t *collection, agg_error *error,
                           const shoal_recipe *recipe)
{
    int64_t found = 0; // rows are numbered from 1
    sqlite3_stmt *find = agg_database_bind(&store->database, STATEMENT_RECIPE_FIND, NULL, 0);
    agg_statement_bind_bytes(find, 1, recipe->recipe_hash, 32);
    agg_err err = agg_database_read_integer(&store->database, &found, error, find, "find a recipe");
    if (err != SHOAL_OK) return err;
    if (found == 0) return add_recipe(store, collection, error, recipe);
    *collection = found;
    return SHOAL_OK;
}

agg_err agg_store_find(agg_store *store, int64_t *collection, agg_error *error,
                       const uint8_t recipe_hash[32])
{
    *collection = 0;
    pthread_mutex_lock(&store->db_mutex);
    sqlite3_stmt *find = agg_database_bind(&store->database, STATEMENT_RECIPE_FIND, NULL, 0);
    agg_statement_bind_bytes(find, 1, recipe_hash, 32);
    agg_err err =
        agg_database_read_integer(&store->database, collection, error, find, "find a recipe");
    pthread_mutex_unlock(&store->db_mutex);
    return err;
}

// Refuses a recipe whose sum is large: every transaction writes the whole sum.
static agg_err check_sum(agg_error *error, const shoal_recipe *recipe)
{
    uint64_t size = 0;
    if (recipe->aggregation != SHOAL_AGGREGATION_SUM) return SHOAL_OK;
    agg_err err = agg_accumulator_size_of(&size, error, recipe);
    if (err != SHOAL_OK || size <= AGG_STORE_SUM_MAX) return err;
    const shoal_compound *compound = shoal_compound_by_id(recipe->mechanism);
    if (compound != NULL && compound->keeps_records)
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE,
                        "recipe %.*s: %s is decoded from whole records, which aggregation \"sum\" "
                        "does not keep."
                        " Choose aggregation \"reports\"",
                        (int)recipe->key.len, recipe->key.bytes, compound->name);
    return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE,
                    "recipe %.*s: its sum takes %.1f MiB. With aggregation \"sum\" every batch "
                    "writes it, so at "
                    "most %.0f MiB are allowed. Choose a smaller k, m or list of values, or "
                    "aggregation \"reports\"",
                    (int)recipe->key.len, recipe->key.bytes, (double)size / (1 << 20),
                    (double)AGG_STORE_SUM_MAX / (1 << 20));
}

agg_err agg_store_collection(agg_store *store, int64_t *collection, agg_error *error,
                             const shoal_recipe *recipe, int32_t today)
{
    agg_err checked = check_sum(error, recipe);
    if (checked != SHOAL_OK) return checked;
    pthread_mutex_lock(&store->db_mutex);
    agg_err err = find_recipe(store, collection, error, recipe);
    pthread_mutex_unlock(&store->db_mutex);
    return err == SHOAL_OK ? agg_store_migrate(store, error, *collection, recipe, today) : err;
}

// Refuses a small batch, unless it was acknowledged before: its sender would keep it for ever.
static agg_err refuse_small(agg_store *store, bool *is_known, agg_error *error, int64_t collection,
                            const shoal_recipe *recipe, const uint8_t id[16])
{
    pthread_mutex_lock(&store->db_mutex);
    agg_err err = agg_store_find_id(store, is_known, error, collection, id);
    pthread_mutex_unlock(&store->db_mutex);
    if (err != SHOAL_OK || *is_known) return err;
    return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_PRIVACY,
                    "the batch has fewer records than batch.minimum, %u: it would tell too much "
                    "about each",
                    recipe->batch_minimum);
}

agg_err agg_store_put(agg_store *store, agg_put *put, agg_error *error, int64_t collection,
                      const shoal_recipe *recipe, int32_t today, const uint8_t id[16],
                      const uint8_t *bytes, size_t len)
{
    bool is_known = false;
    shoal_batch batch;
    agg_err err = shoal_batch_peek(&batch, bytes, len); // the caller has opened it
    if (err != SHOAL_OK) return agg_fail_core(error, err, AGG_EXIT_IO);
    if (batch.count < recipe->batch_minimum)
        err = refuse_small(store, &is_known, error, collection, recipe, id);
    else if (recipe->aggregation == SHOAL_AGGREGATION_SUM)
        err = agg_store_put_sum(store, &is_known, error, collection, recipe, today, id, bytes, len);
    else
        err = agg_store_put_waiting(store, &is_known, error, collection, today, id, bytes, len);
    if (err == SHOAL_OK) *put = is_known ? AGG_PUT_KNOWN : AGG_PUT_STORED;
    return err;
}

agg_err agg_store_bytes(agg_store *store, uint64_t *files, uint64_t *waiting, agg_error *error,
                        int64_t collection)
{
    agg_store_stats stats;
    *files = *waiting = 0;
    agg_err err = agg_store_statistics(store, &stats, error, collection);
    if (err == SHOAL_OK) err = agg_store_files_size(store, files, error, collection);
    if (err == SHOAL_OK) *waiting = stats.waiting_bytes;
    return err;
}
