// SPDX-License-Identifier: Apache-2.0
// Ids and waiting batches; see store_batch.h.
#include "store_batch.h"

static sqlite3_stmt *bind_id(agg_store *store, enum statement number, int64_t collection,
                             const uint8_t id[16])
{
    sqlite3_stmt *statement = agg_database_bind(&store->database, number, &collection, 1);
    agg_statement_bind_bytes(statement, 2, id, 16);
    return statement;
}

agg_err agg_store_find_id(agg_store *store, bool *is_known, agg_error *error, int64_t collection,
                          const uint8_t id[16])
{
    int64_t found = 0;
    agg_err err = agg_database_read_integer(&store->database, &found, error,
                                            bind_id(store, STATEMENT_KNOWN_FIND, collection, id),
                                            "look for a batch's id");
    if (err == SHOAL_OK) *is_known = found != 0;
    return err;
}

agg_err agg_store_add_id(agg_store *store, agg_error *error, int64_t collection,
                         const uint8_t id[16])
{
    return agg_database_run(&store->database, error,
                            bind_id(store, STATEMENT_KNOWN_ADD, collection, id),
                            "enter a batch's id");
}

// Refuses a new batch for a collection that is fed by imports (store_import.h).
static agg_err check_unimported(agg_store *store, agg_error *error, int64_t collection)
{
    int64_t n = 0;
    agg_err err = agg_database_read_integer(
        &store->database, &n, error,
        agg_database_bind(&store->database, STATEMENT_IMPORTS_COUNT, &collection, 1),
        "count imports");
    if (err != SHOAL_OK || n == 0) return err;
    return agg_fail(error, SHOAL_ERR_ARGUMENT, AGG_EXIT_RUNTIME,
                    "the results of this collection are imported (shoal store import): its batches "
                    "go to the object store that manifests list");
}

static agg_err add_waiting(agg_store *store, bool *is_known, agg_error *error, int64_t collection,
                           int32_t today, const uint8_t id[16], const uint8_t *bytes, size_t len)
{
    agg_err err = agg_store_find_id(store, is_known, error, collection, id);
    if (err != SHOAL_OK || *is_known) return err;
    err = check_unimported(store, error, collection);
    if (err == SHOAL_OK) err = agg_store_add_id(store, error, collection, id);
    if (err != SHOAL_OK) return err;
    const int64_t integers[] = {collection, today};
    sqlite3_stmt *add = agg_database_bind(&store->database, STATEMENT_WAITING_ADD, integers, 2);
    agg_statement_bind_bytes(add, 3, bytes, len);
    return agg_database_run(&store->database, error, add, "keep a batch");
}

agg_err agg_store_put_waiting(agg_store *store, bool *is_known, agg_error *error,
                              int64_t collection, int32_t today, const uint8_t id[16],
                              const uint8_t *bytes, size_t len)
{
    pthread_mutex_lock(&store->db_mutex);
    agg_err err = agg_database_begin(&store->database, error);
    if (err == SHOAL_OK) {
        err = add_waiting(store, is_known, error, collection, today, id, bytes, len);
        err = agg_database_end(&store->database, error, err, "keep a batch");
    }
    pthread_mutex_unlock(&store->db_mutex);
    return err;
}
