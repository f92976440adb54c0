// SPDX-License-Identifier: Apache-2.0
// Batches in the store; see dap_store_batches.h.
#include "dap_store_batches.h"

#include <stdlib.h>

#include "bytes.h"
#include "dap_store_statements.h"

// ---- batch buckets ----

void agg_dap_bucket_release(agg_dap_bucket *bucket)
{
    if (bucket->share != NULL) wipe(bucket->share, bucket->len);
    free(bucket->share);
    *bucket = (agg_dap_bucket){0};
}

agg_err agg_dap_bucket_next(agg_dap_store *store, agg_dap_bucket *out, agg_error *error,
                            int64_t task, shoal_dap_interval interval, uint64_t from)
{
    bool is_row = false;
    uint64_t behind = interval.start + interval.duration,
             first = from > interval.start ? from : interval.start;
    *out = (agg_dap_bucket){0};
    if (first >= behind) return SHOAL_OK;
    sqlite3_stmt *next = agg_dap_bind_interval(store, DAP_BUCKET_NEXT, task,
                                               (shoal_dap_interval){first, behind - first});
    agg_err err = agg_database_step(&store->database, &is_row, error, next, "read a bucket");
    if (err == SHOAL_OK && is_row) {
        out->bucket = (uint64_t)sqlite3_column_int64(next, 0);
        out->n_reports = (uint64_t)sqlite3_column_int64(next, 1);
        err = agg_database_copy_exactly(&store->database, out->checksum, sizeof out->checksum,
                                        error, next, 2);
        if (err == SHOAL_OK) err = agg_statement_copy(&out->share, &out->len, error, next, 3);
    }
    agg_statement_end(next);
    if (err != SHOAL_OK) agg_dap_bucket_release(out);
    return err;
}

agg_err agg_dap_bucket_get(agg_dap_store *store, agg_dap_bucket *out, agg_error *error,
                           int64_t task, uint64_t bucket)
{
    agg_err err =
        agg_dap_bucket_next(store, out, error, task, (shoal_dap_interval){bucket, 1}, bucket);
    if (err == SHOAL_OK) out->bucket = bucket;
    return err;
}

agg_err agg_dap_bucket_set(agg_dap_store *store, agg_error *error, int64_t task,
                           const agg_dap_bucket *bucket)
{
    const int64_t integers[] = {task, (int64_t)bucket->bucket, (int64_t)bucket->n_reports};
    sqlite3_stmt *set = agg_database_bind(&store->database, DAP_BUCKET_SET, integers, 3);
    agg_statement_bind_bytes(set, 4, bucket->checksum, sizeof bucket->checksum);
    agg_statement_bind_bytes(set, 5, bucket->share, bucket->len);
    return agg_database_run(&store->database, error, set, "keep a bucket");
}

agg_err agg_dap_is_collected(agg_dap_store *store, bool *is_collected, agg_error *error,
                             int64_t task, shoal_dap_interval interval)
{
    uint64_t found = 0;
    agg_err err = agg_dap_read_count(
        store, &found, error, agg_dap_bind_interval(store, DAP_COLLECTED_FIND, task, interval),
        "look for a collected interval");
    if (err == SHOAL_OK) *is_collected = found != 0;
    return err;
}

agg_err agg_dap_batch_close(agg_dap_store *store, agg_error *error, int64_t task,
                            shoal_dap_interval interval)
{
    agg_err err = agg_database_run(&store->database, error,
                                   agg_dap_bind_interval(store, DAP_COLLECTED_ADD, task, interval),
                                   "enter a collected interval");
    return err == SHOAL_OK
               ? agg_database_run(&store->database, error,
                                  agg_dap_bind_interval(store, DAP_BUCKET_REMOVE, task, interval),
                                  "remove buckets")
               : err;
}

// ---- collection jobs ----

void agg_dap_collection_release(agg_dap_collection *collection)
{
    free(collection->request);
    free(collection->share_request);
    free(collection->answer);
    *collection = (agg_dap_collection){0};
}

static agg_err read_collection(agg_dap_store *store, agg_dap_collection *out, agg_error *error,
                               sqlite3_stmt *statement)
{
    bool is_row = false;
    *out = (agg_dap_collection){0};
    agg_err err =
        agg_database_step(&store->database, &is_row, error, statement, "read a collection");
    if (err == SHOAL_OK && is_row) {
        out->state = (enum agg_dap_collection_state)sqlite3_column_int(statement, 1);
        out->query = (shoal_dap_interval){(uint64_t)sqlite3_column_int64(statement, 2),
                                          (uint64_t)sqlite3_column_int64(statement, 3)};
        out->problem = (uint32_t)sqlite3_column_int(statement, 4);
        err = agg_database_copy_exactly(&store->database, out->id, sizeof out->id, error, statement,
                                        0);
        if (err == SHOAL_OK)
            err = agg_statement_copy(&out->request, &out->request_len, error, statement, 5);
        if (err == SHOAL_OK)
            err = agg_statement_copy(&out->share_request, &out->share_request_len, error, statement,
                                     6);
        if (err == SHOAL_OK)
            err = agg_statement_copy(&out->answer, &out->answer_len, error, statement, 7);
    }
    agg_statement_end(statement);
    if (err != SHOAL_OK) agg_dap_collection_release(out);
    return err;
}

agg_err agg_dap_collection_get(agg_dap_store *store, agg_dap_collection *out, agg_error *error,
                               int64_t task, const uint8_t id[AGG_DAP_ID])
{
    sqlite3_stmt *get = agg_database_bind(&store->database, DAP_COLLECTION_GET, &task, 1);
    agg_statement_bind_bytes(get, 2, id, AGG_DAP_ID);
    return read_collection(store, out, error, get);
}

agg_err agg_dap_collection_next(agg_dap_store *store, agg_dap_collection *out, agg_error *error,
                                int64_t task, enum agg_dap_collection_state state,
                                const uint8_t *after)
{
    const int64_t integers[] = {task, (int64_t)state};
    sqlite3_stmt *next = agg_database_bind(&store->database, DAP_COLLECTION_NEXT, integers, 2);
    agg_statement_bind_bytes(next, 3, after, after == NULL ? 0 : AGG_DAP_ID);
    return read_collection(store, out, error, next);
}

agg_err agg_dap_collection_set(agg_dap_store *store, agg_error *error, int64_t task,
                               const agg_dap_collection *collection)
{
    const int64_t integers[] = {task, (int64_t)collection->state, (int64_t)collection->query.start,
                                (int64_t)collection->query.duration, (int64_t)collection->problem};
    sqlite3_stmt *set = agg_database_bind(&store->database, DAP_COLLECTION_SET, integers, 5);
    agg_statement_bind_bytes(set, 6, collection->id, AGG_DAP_ID);
    agg_statement_bind_bytes(set, 7, collection->request, collection->request_len);
    if (collection->share_request != NULL)
        agg_statement_bind_bytes(set, 8, collection->share_request, collection->share_request_len);
    if (collection->answer != NULL)
        agg_statement_bind_bytes(set, 9, collection->answer, collection->answer_len);
    return agg_database_run(&store->database, error, set, "keep a collection");
}

agg_err agg_dap_collection_remove(agg_dap_store *store, agg_error *error, int64_t task,
                                  const uint8_t id[AGG_DAP_ID])
{
    sqlite3_stmt *remove = agg_database_bind(&store->database, DAP_COLLECTION_REMOVE, &task, 1);
    agg_statement_bind_bytes(remove, 2, id, AGG_DAP_ID);
    return agg_database_run(&store->database, error, remove, "remove a collection");
}
