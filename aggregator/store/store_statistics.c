// SPDX-License-Identifier: Apache-2.0
// Counts of what a store holds; see store_statistics.h.
#include "store_statistics.h"

#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "batch.h"
#include "store_blocks.h"

// Reads the first two columns of a statement's one row.
static agg_err read_pair(agg_store *store, uint64_t pair[2], agg_error *error,
                         enum statement number, int64_t collection)
{
    bool is_row = false;
    sqlite3_stmt *statement = agg_database_bind(&store->database, number, &collection, 1);
    agg_err err = agg_database_step(&store->database, &is_row, error, statement, "count batches");
    for (int i = 0; is_row && i < sqlite3_column_count(statement) && i < 2; i++)
        pair[i] = (uint64_t)sqlite3_column_int64(statement, i);
    agg_statement_end(statement);
    return err;
}

// Counts the records of the batches that wait. It reads their headers alone.
static agg_err count_waiting(agg_store *store, uint64_t *records, agg_error *error,
                             int64_t collection)
{
    sqlite3_blob *body = NULL;
    bool is_row = true;
    sqlite3_stmt *next =
        agg_database_bind(&store->database, STATEMENT_STATISTICS_NUMBERS, &collection, 1);
    agg_err err = SHOAL_OK;
    while (err == SHOAL_OK) {
        uint8_t head[SHOAL_BATCH_HEADER_V1];
        shoal_batch batch;
        err = agg_database_step(&store->database, &is_row, error, next, "count reports");
        if (err != SHOAL_OK || !is_row) break;
        int64_t number = sqlite3_column_int64(next, 0);
        int result = body != NULL ? sqlite3_blob_reopen(body, number)
                                  : sqlite3_blob_open(store->database.db, "main", "waiting", "body",
                                                      number, 0, &body);
        if (result == SQLITE_OK) result = sqlite3_blob_read(body, head, sizeof head, 0);
        if (result == SQLITE_OK && shoal_batch_peek(&batch, head, sizeof head) == SHOAL_OK)
            *records += batch.count; // the fold tells of a damaged batch
        if (result == SQLITE_OK) continue;
        sqlite3_blob_close(body);
        body = NULL;
    }
    sqlite3_blob_close(body);
    agg_statement_end(next);
    return err;
}

agg_err agg_store_statistics(agg_store *store, agg_store_stats *stats, agg_error *error,
                             int64_t collection)
{
    uint64_t batches[2] = {0}, waiting[2] = {0}, records = 0, folded[2] = {0}, released[2] = {0};
    pthread_mutex_lock(&store->db_mutex);
    agg_err err = read_pair(store, batches, error, STATEMENT_STATISTICS_BATCHES, collection);
    if (err == SHOAL_OK)
        err = read_pair(store, waiting, error, STATEMENT_STATISTICS_WAITING, collection);
    if (err == SHOAL_OK) err = count_waiting(store, &records, error, collection);
    if (err == SHOAL_OK)
        err = read_pair(store, folded, error, STATEMENT_STATISTICS_FOLDED, collection);
    if (err == SHOAL_OK)
        err = read_pair(store, released, error, STATEMENT_STATISTICS_RELEASED, collection);
    pthread_mutex_unlock(&store->db_mutex);
    if (err == SHOAL_OK)
        *stats = (agg_store_stats){.batches = batches[0],
                                   .waiting_batches = waiting[0],
                                   .waiting_bytes = waiting[1],
                                   .waiting_records = records,
                                   .records = folded[0],
                                   .blocks = released[1],
                                   .released = released[0]};
    return err;
}

// ---- of many collections ----

enum { COLUMNS_MAX = 3 };

// Where a collection's counts go.
typedef struct place {
    int64_t collection;
    agg_store_stats *stats;
} place;

static int compare_places(const void *first, const void *second)
{
    const place *a = first, *b = second;
    return (a->collection > b->collection) - (a->collection < b->collection);
}

// Returns: where a collection's counts go; NULL when nobody asked for it.
static agg_store_stats *stats_of(const place *places, size_t n, int64_t collection)
{
    const place wanted = {.collection = collection};
    const place *found = bsearch(&wanted, places, n, sizeof *places, compare_places);
    return found == NULL ? NULL : found->stats;
}

static void take_batches(agg_store_stats *stats, const uint64_t columns[COLUMNS_MAX])
{
    stats->batches = columns[0];
}

static void take_waiting(agg_store_stats *stats, const uint64_t columns[COLUMNS_MAX])
{
    stats->waiting_batches = columns[0];
    stats->waiting_bytes = columns[1];
}

static void take_blocks(agg_store_stats *stats, const uint64_t columns[COLUMNS_MAX])
{
    stats->records = columns[0];
    stats->blocks = columns[1];
    stats->released = columns[2];
}

// Reads a statement's rows: a collection's number, then its counts.
static agg_err read_all(agg_store *store, const place *places, size_t n, agg_error *error,
                        enum statement number,
                        void (*take)(agg_store_stats *, const uint64_t[COLUMNS_MAX]))
{
    static const char what[] = "count batches";
    bool is_row = false;
    sqlite3_stmt *statement = agg_database_bind(&store->database, number, NULL, 0);
    agg_err err = agg_database_step(&store->database, &is_row, error, statement, what);
    while (err == SHOAL_OK && is_row) {
        uint64_t columns[COLUMNS_MAX] = {0};
        agg_store_stats *stats = stats_of(places, n, sqlite3_column_int64(statement, 0));
        for (int i = 1; i < sqlite3_column_count(statement) && i <= COLUMNS_MAX; i++)
            columns[i - 1] = (uint64_t)sqlite3_column_int64(statement, i);
        if (stats != NULL) take(stats, columns);
        err = agg_database_step(&store->database, &is_row, error, statement, what);
    }
    agg_statement_end(statement);
    return err;
}

// Call with the database's mutex held, so that the figures are of one moment.
static agg_err count_all(agg_store *store, const place *places, size_t n, agg_error *error,
                         bool with_batches)
{
    agg_err err = SHOAL_OK;
    if (with_batches)
        err = read_all(store, places, n, error, STATEMENT_STATISTICS_BATCHES_OF_ALL, take_batches);
    if (err == SHOAL_OK)
        err = read_all(store, places, n, error, STATEMENT_STATISTICS_WAITING_OF_ALL, take_waiting);
    if (err == SHOAL_OK)
        err = read_all(store, places, n, error, STATEMENT_STATISTICS_BLOCKS_OF_ALL, take_blocks);
    for (size_t i = 0; err == SHOAL_OK && i < n; i++)
        if (places[i].stats->waiting_batches > 0)
            err = count_waiting(store, &places[i].stats->waiting_records, error,
                                places[i].collection);
    return err;
}

agg_err agg_store_statistics_of(agg_store *store, agg_store_stats *stats, agg_error *error,
                                const int64_t *collections, size_t n, bool with_batches)
{
    if (n == 0) return SHOAL_OK;
    place *places = agg_alloc(error, n, sizeof *places);
    if (places == NULL) return AGG_ERR_MEMORY;
    for (size_t i = 0; i < n; i++) {
        stats[i] = (agg_store_stats){0};
        places[i] = (place){collections[i], &stats[i]};
    }
    qsort(places, n, sizeof *places, compare_places);
    pthread_mutex_lock(&store->db_mutex);
    agg_err err = count_all(store, places, n, error, with_batches);
    pthread_mutex_unlock(&store->db_mutex);
    free(places);
    return err;
}
