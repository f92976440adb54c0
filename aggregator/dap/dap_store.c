// SPDX-License-Identifier: Apache-2.0
// The store as a whole, its tasks and the helper's answers; see dap_store.h.
#include "dap_store.h"

#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "dap_store_statements.h"

// ---- opening and transactions ----

agg_err agg_dap_store_open(agg_dap_store **store, agg_error *error, const char *folder)
{
    agg_dap_store *made = agg_alloc(error, 1, sizeof *made);
    if (made == NULL) return AGG_ERR_MEMORY;
    made->database.lock_fd = -1;
    pthread_mutex_init(&made->mutex, NULL);
    agg_err err = agg_dap_store_open_database(made, error, folder);
    if (err != SHOAL_OK) {
        agg_dap_store_close(made);
        return err;
    }
    *store = made;
    return SHOAL_OK;
}

void agg_dap_store_close(agg_dap_store *store)
{
    if (store == NULL) return;
    agg_database_close(&store->database);
    pthread_mutex_destroy(&store->mutex);
    free(store);
}

agg_err agg_dap_begin(agg_dap_store *store, agg_error *error)
{
    pthread_mutex_lock(&store->mutex);
    agg_err err = agg_database_begin(&store->database, error);
    if (err != SHOAL_OK) pthread_mutex_unlock(&store->mutex);
    return err;
}

agg_err agg_dap_end(agg_dap_store *store, agg_error *error, agg_err err)
{
    err = agg_database_end(&store->database, error, err, "commit");
    pthread_mutex_unlock(&store->mutex);
    return err;
}

agg_err agg_dap_commit(agg_dap_store *store, agg_error *error)
{
    return agg_dap_end(store, error, SHOAL_OK);
}

void agg_dap_abandon(agg_dap_store *store)
{
    agg_database_rollback(&store->database);
    pthread_mutex_unlock(&store->mutex);
}

agg_err agg_dap_store_check(void *store, agg_store_found *found, agg_error *error,
                            agg_store_told told, const agg_pace *pace)
{
    agg_database *database = &((agg_dap_store *)store)->database;
    sqlite3 *db;
    agg_error damage;
    *found = (agg_store_found){0};
    agg_err err = agg_database_open_apart(&db, error, database);
    if (err != SHOAL_OK) return err;
    if (agg_database_quick_check(db, &found->is_stopped, &damage, database->folder, pace) !=
        SHOAL_OK) {
        found->is_database_damaged = true;
        if (told.log != NULL) told.log(told.context, damage.text);
    }
    agg_database_close_apart(db, database);
    return SHOAL_OK;
}

void agg_dap_store_tidy(agg_dap_store *store)
{
    pthread_mutex_lock(&store->mutex);
    (void)agg_database_checkpoint(&store->database);
    pthread_mutex_unlock(&store->mutex);
}

// ---- tasks ----

static agg_err find_task(agg_dap_store *store, int64_t *number, agg_error *error,
                         const uint8_t id[SHOAL_DAP_TASK_ID], const uint8_t digest[32])
{
    bool is_row = false;
    uint8_t kept[32];
    sqlite3_stmt *find = agg_database_bind(&store->database, DAP_TASK_FIND, NULL, 0);
    agg_statement_bind_bytes(find, 1, id, SHOAL_DAP_TASK_ID);
    agg_err err = agg_database_step(&store->database, &is_row, error, find, "find a task");
    if (err == SHOAL_OK && is_row) {
        *number = sqlite3_column_int64(find, 0);
        err = agg_database_copy_exactly(&store->database, kept, sizeof kept, error, find, 1);
        if (err == SHOAL_OK && memcmp(kept, digest, sizeof kept) != 0)
            err = agg_fail(
                error, SHOAL_ERR_RECIPE_HASH, AGG_EXIT_USAGE,
                "store %s: this task was served before with another configuration, collector key "
                "or verification seed; give the changed task an id of its own",
                store->database.folder);
    }
    agg_statement_end(find);
    if (err != SHOAL_OK || is_row) return err;
    sqlite3_stmt *add = agg_database_bind(&store->database, DAP_TASK_ADD, NULL, 0);
    agg_statement_bind_bytes(add, 1, id, SHOAL_DAP_TASK_ID);
    agg_statement_bind_bytes(add, 2, digest, 32);
    err = agg_database_run(&store->database, error, add, "enter a task");
    *number = sqlite3_last_insert_rowid(store->database.db);
    return err;
}

agg_err agg_dap_store_task(agg_dap_store *store, int64_t *number, agg_error *error,
                           const uint8_t id[SHOAL_DAP_TASK_ID], const uint8_t digest[32])
{
    agg_err err = agg_dap_begin(store, error);
    if (err != SHOAL_OK) return err;
    return agg_dap_end(store, error, find_task(store, number, error, id, digest));
}

agg_err agg_dap_floor(agg_dap_store *store, uint64_t *floor, agg_error *error, int64_t task)
{
    return agg_dap_read_count(store, floor, error,
                              agg_database_bind(&store->database, DAP_FLOOR_GET, &task, 1),
                              "read the floor");
}

agg_err agg_dap_forget(agg_dap_store *store, bool *is_left, uint64_t *n_reports, agg_error *error,
                       int64_t task, uint64_t floor, int64_t limit)
{
    static const enum agg_dap_statement statements[] = {DAP_FORGET_KNOWN, DAP_FORGET_REPORTS,
                                                        DAP_FORGET_ANSWERS};
    const int64_t integers[] = {task, (int64_t)floor, limit};
    *is_left = false;
    *n_reports = 0;
    agg_err err = agg_database_run(&store->database, error,
                                   agg_database_bind(&store->database, DAP_FLOOR_SET, integers, 2),
                                   "raise the floor");
    for (size_t i = 0; err == SHOAL_OK && i < sizeof statements / sizeof *statements; i++) {
        err = agg_database_run(&store->database, error,
                               agg_database_bind(&store->database, statements[i], integers, 3),
                               "forget old rows");
        if (sqlite3_changes(store->database.db) >= limit) *is_left = true;
        if (err == SHOAL_OK && statements[i] == DAP_FORGET_REPORTS)
            *n_reports = (uint64_t)sqlite3_changes(store->database.db);
    }
    return err;
}

// ---- answers ----

// Binds the range of digests that begin with the first `len` bytes of `hash`.
static void bind_range(sqlite3_stmt *statement, uint8_t range[2][AGG_DAP_HASH], const uint8_t *hash,
                       size_t len)
{
    memset(range[0], 0, AGG_DAP_HASH);
    memset(range[1], 0xff, AGG_DAP_HASH);
    for (int i = 0; i < 2; i++) {
        memcpy(range[i], hash, len);
        agg_statement_bind_bytes(statement, 3 + i, range[i], AGG_DAP_HASH);
    }
}

agg_err agg_dap_answer_get(agg_dap_store *store, uint8_t **body, size_t *len, agg_error *error,
                           int64_t task, enum agg_dap_answer_kind kind, const uint8_t *hash,
                           bool by_id)
{
    bool is_row = false;
    uint8_t range[2][AGG_DAP_HASH];
    const int64_t integers[] = {task, (int64_t)kind};
    sqlite3_stmt *get = agg_database_bind(&store->database, DAP_ANSWER_GET, integers, 2);
    bind_range(get, range, hash, by_id ? AGG_DAP_ID : AGG_DAP_HASH);
    *body = NULL;
    agg_err err = agg_database_step(&store->database, &is_row, error, get, "find an answer");
    if (err == SHOAL_OK && is_row) err = agg_statement_copy(body, len, error, get, 0);
    agg_statement_end(get);
    return err;
}

agg_err agg_dap_answer_set(agg_dap_store *store, agg_error *error, int64_t task,
                           enum agg_dap_answer_kind kind, const uint8_t hash[AGG_DAP_HASH],
                           uint64_t bucket, shoal_bytes body)
{
    const int64_t integers[] = {task, (int64_t)kind, (int64_t)bucket};
    sqlite3_stmt *set = agg_database_bind(&store->database, DAP_ANSWER_SET, integers, 3);
    agg_statement_bind_bytes(set, 4, hash, AGG_DAP_HASH);
    agg_statement_bind_bytes(set, 5, body.at, body.len);
    return agg_database_run(&store->database, error, set, "keep an answer");
}

agg_err agg_dap_answer_remove(agg_dap_store *store, agg_error *error, int64_t task,
                              enum agg_dap_answer_kind kind, const uint8_t id[AGG_DAP_ID])
{
    uint8_t range[2][AGG_DAP_HASH];
    const int64_t integers[] = {task, (int64_t)kind};
    sqlite3_stmt *remove = agg_database_bind(&store->database, DAP_ANSWER_REMOVE, integers, 2);
    bind_range(remove, range, id, AGG_DAP_ID);
    return agg_database_run(&store->database, error, remove, "remove an answer");
}

agg_err agg_dap_count(agg_dap_store *store, agg_dap_counts *counts, agg_error *error, int64_t task)
{
    bool is_row = false;
    sqlite3_stmt *count = agg_database_bind(&store->database, DAP_COUNTS, &task, 1);
    agg_err err = agg_database_step(&store->database, &is_row, error, count, "count rows");
    if (err == SHOAL_OK && is_row)
        *counts = (agg_dap_counts){
            (uint64_t)sqlite3_column_int64(count, 0), (uint64_t)sqlite3_column_int64(count, 1),
            (uint64_t)sqlite3_column_int64(count, 2), (uint64_t)sqlite3_column_int64(count, 3)};
    agg_statement_end(count);
    return err;
}
