// SPDX-License-Identifier: Apache-2.0
// Removing collections; see agg_store_remove of store.h.
#include "store.h"
#include "store_files.h"

// Finds a collection of a recipe that got batches since it was removed last, or never was.
//   collection: 0 when there is none
static agg_err find(agg_store *store, int64_t *collection, agg_error *error, const char *name)
{
    sqlite3_stmt *statement = agg_database_bind(&store->database, STATEMENT_REMOVE_FIND, NULL, 0);
    sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
    return agg_database_read_integer(&store->database, collection, error, statement,
                                     "find a recipe");
}

static agg_err add_count(agg_store *store, uint64_t *sum, agg_error *error, enum statement number,
                         int64_t collection)
{
    int64_t n = 0;
    agg_err err = agg_database_read_integer(
        &store->database, &n, error, agg_database_bind(&store->database, number, &collection, 1),
        "count what is removed");
    if (err == SHOAL_OK) *sum += (uint64_t)n;
    return err;
}

// Keeps the ids and the recipe's row: a batch whose acknowledgement got lost is sent again, and
// must not count a second time when the recipe is served again.
static agg_err note_removal(agg_store *store, agg_error *error, int64_t collection)
{
    agg_database *database = &store->database;
    int64_t row[] = {collection, 0};
    agg_err err = agg_database_read_integer(
        database, &row[1], error, agg_database_bind(database, STATEMENT_BLOCK_LAST, &collection, 1),
        "find the last block");
    if (err != SHOAL_OK) return err;
    return agg_database_run(database, error,
                            agg_database_bind(database, STATEMENT_REMOVE_NOTE, row, 2),
                            "note a removal");
}

static agg_err remove_one(agg_store *store, agg_removed *removed, agg_error *error,
                          int64_t collection)
{
    static const enum statement deletes[] = {
        STATEMENT_REMOVE_WAITING,     STATEMENT_REMOVE_BLOCKS,           STATEMENT_REMOVE_TICK,
        STATEMENT_REMOVE_COPIES,      STATEMENT_OLD_ACCUMULATORS_DELETE, STATEMENT_OLD_SUMS_DELETE,
        STATEMENT_OLD_RELEASED_DELETE};
    agg_database *database = &store->database;
    agg_err err = add_count(store, &removed->batches, error, STATEMENT_REMOVE_COUNT, collection);
    if (err == SHOAL_OK)
        err = add_count(store, &removed->records, error, STATEMENT_STATISTICS_FOLDED, collection);
    if (err == SHOAL_OK) err = note_removal(store, error, collection);
    for (size_t i = 0; err == SHOAL_OK && i < sizeof deletes / sizeof *deletes; i++)
        err = agg_database_run(database, error,
                               agg_database_bind(database, deletes[i], &collection, 1),
                               "remove a collection");
    removed->collections++;
    return err;
}

// Removes collections until none of the recipe is left. Call inside a transaction.
static agg_err remove_all(agg_store *store, agg_removed *removed, agg_error *error,
                          const char *name)
{
    for (;;) {
        int64_t collection = 0;
        agg_err err = find(store, &collection, error, name);
        if (err != SHOAL_OK || collection == 0) return err;
        err = remove_one(store, removed, error, collection);
        if (err != SHOAL_OK) return err;
    }
}

agg_err agg_store_remove(agg_store *store, agg_removed *removed, agg_error *error, const char *name)
{
    agg_database *database = &store->database;
    *removed = (agg_removed){0};
    pthread_mutex_lock(&store->fold_mutex);
    pthread_mutex_lock(&store->files_mutex);
    pthread_mutex_lock(&store->db_mutex);
    agg_err err = agg_database_begin(database, error);
    if (err == SHOAL_OK)
        err = agg_database_end(database, error, remove_all(store, removed, error, name),
                               "remove a collection");
    if (err == SHOAL_OK) (void)agg_database_checkpoint(database);
    if (err == SHOAL_OK && removed->collections > 0) err = agg_store_files_open(store, error);
    pthread_mutex_unlock(&store->db_mutex);
    pthread_mutex_unlock(&store->files_mutex);
    pthread_mutex_unlock(&store->fold_mutex);
    return err;
}
