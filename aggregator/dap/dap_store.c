// SPDX-License-Identifier: Apache-2.0
// The DAP servers' store over SQLite; see dap_store.h. Knows no VDAF, no keys and no network.
#include "dap_store.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agg_size.h"
#include "bytes.h"
#include "database.h"

// Reports and ids are tables without row numbers, so that the order of arrival is not kept.
static const char schema_1[] =
    "PRAGMA application_id = 1936224068;" // "shoD"
    "CREATE TABLE tasks(task INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, digest BLOB NOT NULL,"
    " floor INTEGER NOT NULL DEFAULT 0);"
    "CREATE TABLE known(task INTEGER NOT NULL, id BLOB NOT NULL, bucket INTEGER NOT NULL, PRIMARY "
    "KEY(task, id))"
    " WITHOUT ROWID;"
    "CREATE INDEX known_bucket ON known(task, bucket);"
    "CREATE TABLE reports(task INTEGER NOT NULL, id BLOB NOT NULL, bucket INTEGER NOT NULL, body "
    "BLOB NOT NULL,"
    " PRIMARY KEY(task, id)) WITHOUT ROWID;"
    "CREATE INDEX reports_bucket ON reports(task, bucket);"
    "CREATE TABLE jobs(task INTEGER PRIMARY KEY, ids BLOB NOT NULL, request BLOB NOT NULL);"
    "CREATE TABLE buckets(task INTEGER NOT NULL, bucket INTEGER NOT NULL, reports INTEGER NOT NULL,"
    " checksum BLOB NOT NULL, share BLOB NOT NULL, PRIMARY KEY(task, bucket));"
    "CREATE TABLE collected(task INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,"
    " PRIMARY KEY(task, first)) WITHOUT ROWID;"
    "CREATE TABLE collections(task INTEGER NOT NULL, id BLOB NOT NULL, state INTEGER NOT NULL, "
    "start INTEGER NOT NULL,"
    " duration INTEGER NOT NULL, problem INTEGER NOT NULL, request BLOB NOT NULL, share_request "
    "BLOB, answer BLOB,"
    " PRIMARY KEY(task, id)) WITHOUT ROWID;"
    "CREATE TABLE answers(task INTEGER NOT NULL, kind INTEGER NOT NULL, hash BLOB NOT NULL, bucket "
    "INTEGER NOT NULL,"
    " body BLOB NOT NULL, PRIMARY KEY(task, kind, hash)) WITHOUT ROWID;"
    "CREATE INDEX answers_bucket ON answers(task, bucket);"
    "PRAGMA user_version = 1;";

enum statement {
    BEGIN,
    COMMIT,
    ROLLBACK,
    TASK_FIND,
    TASK_ADD,
    FLOOR_GET,
    FLOOR_SET,
    FORGET_KNOWN,
    FORGET_REPORTS,
    FORGET_ANSWERS,
    KNOWN_FIND,
    KNOWN_ADD,
    REPORT_ADD,
    REPORT_REMOVE,
    REPORT_REMOVE_ALL,
    REPORT_FIND,
    REPORT_NEXT,
    REPORT_COUNT,
    JOB_GET,
    JOB_SET,
    JOB_REMOVE,
    BUCKET_NEXT,
    BUCKET_SET,
    BUCKET_COUNT,
    BUCKET_REMOVE,
    COLLECTED_FIND,
    COLLECTED_ADD,
    COLLECTION_GET,
    COLLECTION_NEXT,
    COLLECTION_SET,
    COLLECTION_REMOVE,
    ANSWER_GET,
    ANSWER_SET,
    ANSWER_REMOVE,
    COUNTS,
    STATEMENTS
};

// ?1 is the task wherever there is one.
static const char *const sql[STATEMENTS] = {
    [BEGIN] = "BEGIN IMMEDIATE",
    [COMMIT] = "COMMIT",
    [ROLLBACK] = "ROLLBACK",
    [TASK_FIND] = "SELECT task, digest FROM tasks WHERE id = ?1",
    [TASK_ADD] = "INSERT INTO tasks(id, digest) VALUES(?1, ?2)",
    [FLOOR_GET] = "SELECT floor FROM tasks WHERE task = ?1",
    [FLOOR_SET] = "UPDATE tasks SET floor = max(floor, ?2) WHERE task = ?1",
    [FORGET_KNOWN] = "DELETE FROM known WHERE task = ?1 AND id IN"
                     " (SELECT id FROM known WHERE task = ?1 AND bucket < ?2 LIMIT ?3)",
    // Those of a job must stay until the helper has answered it, so none goes meanwhile.
    [FORGET_REPORTS] =
        "DELETE FROM reports WHERE task = ?1 AND NOT EXISTS (SELECT 1 FROM jobs WHERE task = ?1)"
        " AND id IN (SELECT id FROM reports WHERE task = ?1 AND bucket < ?2 LIMIT ?3)",
    [FORGET_ANSWERS] = "DELETE FROM answers WHERE task = ?1 AND (kind, hash) IN"
                       " (SELECT kind, hash FROM answers WHERE task = ?1 AND bucket < ?2 LIMIT ?3)",
    [KNOWN_FIND] = "SELECT 1 FROM known WHERE task = ?1 AND id = ?2",
    [KNOWN_ADD] = "INSERT INTO known(task, id, bucket) VALUES(?1, ?2, ?3)",
    [REPORT_ADD] = "INSERT INTO reports(task, id, bucket, body) VALUES(?1, ?2, ?3, ?4)",
    [REPORT_REMOVE] = "DELETE FROM reports WHERE task = ?1 AND id = ?2",
    [REPORT_REMOVE_ALL] = "DELETE FROM reports WHERE task = ?1 AND bucket BETWEEN ?2 AND ?3",
    [REPORT_FIND] = "SELECT id, bucket, body FROM reports WHERE task = ?1 AND id = ?2",
    [REPORT_NEXT] = "SELECT id, bucket, body FROM reports WHERE task = ?1 ORDER BY id",
    [REPORT_COUNT] = "SELECT count(*) FROM (SELECT 1 FROM reports WHERE task = ?1 AND bucket "
                     "BETWEEN ?2 AND ?3 LIMIT ?4)",
    [JOB_GET] = "SELECT ids, request FROM jobs WHERE task = ?1",
    [JOB_SET] = "INSERT INTO jobs(task, ids, request) VALUES(?1, ?2, ?3)",
    [JOB_REMOVE] = "DELETE FROM jobs WHERE task = ?1",
    [BUCKET_NEXT] = "SELECT bucket, reports, checksum, share FROM buckets WHERE task = ?1 AND "
                    "bucket BETWEEN ?2 AND ?3"
                    " ORDER BY bucket LIMIT 1",
    [BUCKET_SET] =
        "INSERT INTO buckets(task, bucket, reports, checksum, share) VALUES(?1, ?2, ?3, ?4, ?5)"
        " ON CONFLICT DO UPDATE SET reports = excluded.reports, checksum = excluded.checksum,"
        " share = excluded.share",
    [BUCKET_COUNT] =
        "SELECT ifnull(sum(reports), 0) FROM buckets WHERE task = ?1 AND bucket BETWEEN ?2 AND ?3",
    [BUCKET_REMOVE] = "DELETE FROM buckets WHERE task = ?1 AND bucket BETWEEN ?2 AND ?3",
    // Collected intervals do not overlap, so the last that begins before the end decides.
    [COLLECTED_FIND] = "SELECT last >= ?2 FROM collected WHERE task = ?1 AND first <= ?3 ORDER BY "
                       "first DESC LIMIT 1",
    [COLLECTED_ADD] = "INSERT INTO collected(task, first, last) VALUES(?1, ?2, ?3)",
    [COLLECTION_GET] = "SELECT id, state, start, duration, problem, request, share_request, answer "
                       "FROM collections"
                       " WHERE task = ?1 AND id = ?2",
    [COLLECTION_NEXT] = "SELECT id, state, start, duration, problem, request, share_request, "
                        "answer FROM collections"
                        " WHERE task = ?1 AND state = ?2 AND id > ?3 ORDER BY id LIMIT 1",
    [COLLECTION_SET] = "INSERT OR REPLACE INTO collections"
                       "(task, state, start, duration, problem, id, request, share_request, answer)"
                       " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    [COLLECTION_REMOVE] = "DELETE FROM collections WHERE task = ?1 AND id = ?2",
    [ANSWER_GET] =
        "SELECT body FROM answers WHERE task = ?1 AND kind = ?2 AND hash BETWEEN ?3 AND ?4",
    [ANSWER_SET] = "INSERT INTO answers(task, kind, hash, bucket, body) VALUES(?1, ?2, ?4, ?3, ?5)",
    [ANSWER_REMOVE] =
        "DELETE FROM answers WHERE task = ?1 AND kind = ?2 AND hash BETWEEN ?3 AND ?4",
    [COUNTS] = "SELECT (SELECT count(*) FROM reports WHERE task = ?1),"
               " (SELECT ifnull(sum(reports), 0) FROM buckets WHERE task = ?1),"
               " (SELECT count(*) FROM jobs WHERE task = ?1),"
               " (SELECT count(*) FROM collections WHERE task = ?1 AND state < 2)",
};

struct agg_dap_store {
    char *folder;
    int lock_fd;
    sqlite3 *db;
    sqlite3_stmt *statements[STATEMENTS];
    pthread_mutex_t mutex; // held from begin to commit or abandon
};

// ---- statements ----

static agg_err fail(agg_dap_store *store, agg_error *error, const char *what)
{
    return agg_database_fail(error, store->db, store->folder, what);
}

// A statement with its first integers bound.
static sqlite3_stmt *bind(agg_dap_store *store, enum statement number, const int64_t *integers,
                          int n)
{
    sqlite3_stmt *statement = store->statements[number];
    for (int i = 0; i < n; i++) sqlite3_bind_int64(statement, i + 1, integers[i]);
    return statement;
}

static void bind_bytes(sqlite3_stmt *statement, int at, const void *bytes, size_t len)
{
    sqlite3_bind_blob64(statement, at, bytes == NULL ? "" : bytes, len, SQLITE_STATIC);
}

static void end(sqlite3_stmt *statement)
{
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
}

// Runs a statement that gives no rows.
static agg_err run(agg_dap_store *store, sqlite3_stmt *statement, agg_error *error,
                   const char *what)
{
    int rc = sqlite3_step(statement);
    agg_err err = rc == SQLITE_DONE ? SHOAL_OK : fail(store, error, what);
    end(statement);
    return err;
}

// Steps a query. *is_row: whether there is a row to read; end the statement afterwards.
static agg_err step(agg_dap_store *store, int *is_row, sqlite3_stmt *statement, agg_error *error,
                    const char *what)
{
    int rc = sqlite3_step(statement);
    *is_row = rc == SQLITE_ROW;
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? SHOAL_OK : fail(store, error, what);
}

// Runs a query whose one row is one integer.
static agg_err read_number(agg_dap_store *store, uint64_t *number, sqlite3_stmt *statement,
                           agg_error *error, const char *what)
{
    int is_row = 0;
    agg_err err = step(store, &is_row, statement, error, what);
    if (err == SHOAL_OK) *number = is_row ? (uint64_t)sqlite3_column_int64(statement, 0) : 0;
    end(statement);
    return err;
}

// Copies a column's bytes. *bytes stays NULL for SQL's NULL; else free it.
static agg_err copy_column(uint8_t **bytes, size_t *len, agg_error *error, sqlite3_stmt *statement,
                           int column)
{
    if (sqlite3_column_type(statement, column) == SQLITE_NULL) return SHOAL_OK;
    size_t n = (size_t)sqlite3_column_bytes(statement, column);
    const void *from = sqlite3_column_blob(statement, column);
    uint8_t *copy = agg_alloc(error, n, 1);
    if (copy == NULL) return AGG_ERR_MEMORY;
    if (n > 0) memcpy(copy, from, n);
    *bytes = copy;
    *len = n;
    return SHOAL_OK;
}

// Copies a column that has exactly `len` bytes.
static agg_err copy_exactly(agg_dap_store *store, uint8_t *out, size_t len, agg_error *error,
                            sqlite3_stmt *statement, int column)
{
    if ((size_t)sqlite3_column_bytes(statement, column) != len)
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "store %s: a value has another length",
                        store->folder);
    memcpy(out, sqlite3_column_blob(statement, column), len);
    return SHOAL_OK;
}

// ---- opening ----

static agg_err open_all(agg_dap_store *store, agg_error *error)
{
    static const char *const upgrades[AGG_DAP_STORE_VERSION] = {schema_1};
    agg_err err = agg_folder_make(error, store->folder);
    if (err == SHOAL_OK) err = agg_folder_lock(&store->lock_fd, error, store->folder);
    if (err == SHOAL_OK) err = agg_database_open(&store->db, error, store->folder, "dap.db");
    if (err == SHOAL_OK)
        err =
            agg_database_upgrade(store->db, error, store->folder, upgrades, AGG_DAP_STORE_VERSION);
    if (err == SHOAL_OK)
        err = agg_database_prepare(store->statements, error, store->db, store->folder, sql,
                                   STATEMENTS);
    return err == SHOAL_OK ? agg_folder_sync(error, store->folder) : err;
}

agg_err agg_dap_store_open(agg_dap_store **store, agg_error *error, const char *folder)
{
    agg_dap_store *made = agg_alloc(error, 1, sizeof *made);
    if (made == NULL) return AGG_ERR_MEMORY;
    made->lock_fd = -1;
    pthread_mutex_init(&made->mutex, NULL);
    made->folder = strdup(folder);
    agg_err err = made->folder == NULL
                      ? agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "out of memory")
                      : SHOAL_OK;
    if (err == SHOAL_OK) err = open_all(made, error);
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
    for (int i = 0; i < STATEMENTS; i++) sqlite3_finalize(store->statements[i]);
    sqlite3_close(store->db); // checkpoints the WAL
    pthread_mutex_destroy(&store->mutex);
    if (store->lock_fd >= 0) close(store->lock_fd); // last: the lock covers the database's closing
    free(store->folder);
    free(store);
}

agg_err agg_dap_begin(agg_dap_store *store, agg_error *error)
{
    pthread_mutex_lock(&store->mutex);
    agg_err err = run(store, store->statements[BEGIN], error, "begin");
    if (err != SHOAL_OK) pthread_mutex_unlock(&store->mutex);
    return err;
}

agg_err agg_dap_commit(agg_dap_store *store, agg_error *error)
{
    agg_err err = run(store, store->statements[COMMIT], error, "commit");
    if (err != SHOAL_OK) {
        agg_dap_abandon(store);
        return err;
    }
    pthread_mutex_unlock(&store->mutex);
    return SHOAL_OK;
}

void agg_dap_abandon(agg_dap_store *store)
{
    agg_error ignored;
    if (!sqlite3_get_autocommit(store->db))
        (void)!run(store, store->statements[ROLLBACK], &ignored, "roll back");
    pthread_mutex_unlock(&store->mutex);
}

void agg_dap_store_tidy(agg_dap_store *store)
{
    pthread_mutex_lock(&store->mutex);
    sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    pthread_mutex_unlock(&store->mutex);
}

// ---- tasks ----

static agg_err find_task(agg_dap_store *store, int64_t *number, agg_error *error,
                         const uint8_t id[SHOAL_DAP_TASK_ID], const uint8_t digest[32])
{
    int is_row = 0;
    uint8_t kept[32];
    sqlite3_stmt *find = store->statements[TASK_FIND];
    bind_bytes(find, 1, id, SHOAL_DAP_TASK_ID);
    agg_err err = step(store, &is_row, find, error, "find a task");
    if (err == SHOAL_OK && is_row) {
        *number = sqlite3_column_int64(find, 0);
        err = copy_exactly(store, kept, sizeof kept, error, find, 1);
        if (err == SHOAL_OK && memcmp(kept, digest, sizeof kept) != 0)
            err = agg_fail(error, SHOAL_ERR_RECIPE_HASH, AGG_EXIT_USAGE,
                           "store %s: this task was served with another configuration, collector "
                           "key or verification"
                           " seed; what changes is a new task with an id of its own",
                           store->folder);
    }
    end(find);
    if (err != SHOAL_OK || is_row) return err;
    sqlite3_stmt *add = store->statements[TASK_ADD];
    bind_bytes(add, 1, id, SHOAL_DAP_TASK_ID);
    bind_bytes(add, 2, digest, 32);
    err = run(store, add, error, "enter a task");
    *number = sqlite3_last_insert_rowid(store->db);
    return err;
}

agg_err agg_dap_store_task(agg_dap_store *store, int64_t *number, agg_error *error,
                           const uint8_t id[SHOAL_DAP_TASK_ID], const uint8_t digest[32])
{
    agg_err err = agg_dap_begin(store, error);
    if (err != SHOAL_OK) return err;
    err = find_task(store, number, error, id, digest);
    if (err == SHOAL_OK) return agg_dap_commit(store, error);
    agg_dap_abandon(store);
    return err;
}

agg_err agg_dap_floor(agg_dap_store *store, uint64_t *floor, agg_error *error, int64_t task)
{
    return read_number(store, floor, bind(store, FLOOR_GET, &task, 1), error, "read the floor");
}

agg_err agg_dap_forget(agg_dap_store *store, int *n_left, uint64_t *n_reports, agg_error *error,
                       int64_t task, uint64_t floor, int64_t limit)
{
    static const enum statement statements[] = {FORGET_KNOWN, FORGET_REPORTS, FORGET_ANSWERS};
    const int64_t integers[] = {task, (int64_t)floor, limit};
    *n_left = 0;
    *n_reports = 0;
    agg_err err = run(store, bind(store, FLOOR_SET, integers, 2), error, "raise the floor");
    for (size_t i = 0; err == SHOAL_OK && i < sizeof statements / sizeof *statements; i++) {
        err = run(store, bind(store, statements[i], integers, 3), error, "forget");
        if (sqlite3_changes(store->db) >= limit) *n_left = 1;
        if (err == SHOAL_OK && statements[i] == FORGET_REPORTS)
            *n_reports = (uint64_t)sqlite3_changes(store->db);
    }
    return err;
}

// ---- report ids ----

agg_err agg_dap_is_known(agg_dap_store *store, int *is_known, agg_error *error, int64_t task,
                         const uint8_t id[SHOAL_DAP_REPORT_ID])
{
    uint64_t found = 0;
    sqlite3_stmt *find = bind(store, KNOWN_FIND, &task, 1);
    bind_bytes(find, 2, id, SHOAL_DAP_REPORT_ID);
    agg_err err = read_number(store, &found, find, error, "look for a report");
    if (err == SHOAL_OK) *is_known = found != 0;
    return err;
}

agg_err agg_dap_know(agg_dap_store *store, agg_error *error, int64_t task,
                     const uint8_t id[SHOAL_DAP_REPORT_ID], uint64_t bucket)
{
    sqlite3_stmt *add = bind(store, KNOWN_ADD, &task, 1);
    bind_bytes(add, 2, id, SHOAL_DAP_REPORT_ID);
    sqlite3_bind_int64(add, 3, (int64_t)bucket);
    return run(store, add, error, "know a report");
}

// ---- waiting reports ----

void agg_dap_pendings_release(agg_dap_pendings *pendings)
{
    for (size_t i = 0; i < pendings->n; i++) free(pendings->list[i].body);
    free(pendings->list);
    *pendings = (agg_dap_pendings){0};
}

agg_err agg_dap_report_add(agg_dap_store *store, agg_error *error, int64_t task,
                           const uint8_t id[SHOAL_DAP_REPORT_ID], uint64_t bucket, shoal_bytes body)
{
    sqlite3_stmt *add = bind(store, REPORT_ADD, &task, 1);
    bind_bytes(add, 2, id, SHOAL_DAP_REPORT_ID);
    sqlite3_bind_int64(add, 3, (int64_t)bucket);
    bind_bytes(add, 4, body.at, body.len);
    return run(store, add, error, "keep a report");
}

agg_err agg_dap_report_remove(agg_dap_store *store, agg_error *error, int64_t task,
                              const uint8_t id[SHOAL_DAP_REPORT_ID])
{
    sqlite3_stmt *remove = bind(store, REPORT_REMOVE, &task, 1);
    bind_bytes(remove, 2, id, SHOAL_DAP_REPORT_ID);
    return run(store, remove, error, "remove a report");
}

// SQLite's integers are signed; no bucket is above them, but an interval's end may be.
static int64_t column_of(uint64_t bucket)
{
    return bucket > INT64_MAX ? INT64_MAX : (int64_t)bucket;
}

// A statement over the buckets of an interval: ?2 its first, ?3 its last.
static sqlite3_stmt *bind_interval(agg_dap_store *store, enum statement number, int64_t task,
                                   shoal_dap_interval interval)
{
    const int64_t integers[] = {task, column_of(interval.start),
                                column_of(interval.start + interval.duration - 1)};
    return bind(store, number, integers, 3);
}

agg_err agg_dap_report_remove_all(agg_dap_store *store, uint64_t *n, agg_error *error, int64_t task,
                                  shoal_dap_interval interval)
{
    agg_err err = run(store, bind_interval(store, REPORT_REMOVE_ALL, task, interval), error,
                      "remove reports");
    if (err == SHOAL_OK) *n = (uint64_t)sqlite3_changes(store->db);
    return err;
}

// Appends the row of id, bucket and body at which the statement stands.
static agg_err append_report(agg_dap_store *store, agg_dap_pendings *out, agg_error *error,
                             sqlite3_stmt *statement)
{
    agg_err err = agg_grow((void **)&out->list, &out->cap, out->n + 1, sizeof *out->list, error);
    if (err != SHOAL_OK) return err;
    agg_dap_pending *one = &out->list[out->n];
    *one = (agg_dap_pending){.bucket = (uint64_t)sqlite3_column_int64(statement, 1)};
    err = copy_exactly(store, one->id, sizeof one->id, error, statement, 0);
    if (err == SHOAL_OK) err = copy_column(&one->body, &one->len, error, statement, 2);
    if (err == SHOAL_OK) out->n++;
    return err;
}

agg_err agg_dap_report_find(agg_dap_store *store, agg_dap_pendings *out, agg_error *error,
                            int64_t task, const uint8_t id[SHOAL_DAP_REPORT_ID])
{
    int is_row = 0;
    sqlite3_stmt *find = bind(store, REPORT_FIND, &task, 1);
    bind_bytes(find, 2, id, SHOAL_DAP_REPORT_ID);
    agg_err err = step(store, &is_row, find, error, "find a report");
    if (err == SHOAL_OK && is_row) err = append_report(store, out, error, find);
    end(find);
    return err;
}

agg_err agg_dap_report_next(agg_dap_store *store, agg_dap_pendings *out, agg_error *error,
                            int64_t task, size_t max_n, size_t max_len)
{
    int is_row = 1;
    size_t len = 0;
    agg_err err = SHOAL_OK;
    sqlite3_stmt *next = bind(store, REPORT_NEXT, &task, 1);
    while (err == SHOAL_OK && out->n < max_n) {
        err = step(store, &is_row, next, error, "read reports");
        if (err != SHOAL_OK || !is_row) break;
        len += (size_t)sqlite3_column_bytes(next, 2);
        if (out->n > 0 && len > max_len) break;
        err = append_report(store, out, error, next);
    }
    end(next);
    return err;
}

agg_err agg_dap_report_count(agg_dap_store *store, uint64_t *n, agg_error *error, int64_t task,
                             shoal_dap_interval interval, uint64_t most)
{
    sqlite3_stmt *count = bind_interval(store, REPORT_COUNT, task, interval);
    sqlite3_bind_int64(count, 4, column_of(most));
    return read_number(store, n, count, error, "count reports");
}

// ---- the leader's job ----

void agg_dap_job_release(agg_dap_job *job)
{
    free(job->ids);
    free(job->request);
    *job = (agg_dap_job){0};
}

agg_err agg_dap_job_get(agg_dap_store *store, agg_dap_job *job, agg_error *error, int64_t task)
{
    int is_row = 0;
    size_t ids_len = 0;
    *job = (agg_dap_job){0};
    sqlite3_stmt *get = bind(store, JOB_GET, &task, 1);
    agg_err err = step(store, &is_row, get, error, "read the job");
    if (err == SHOAL_OK && is_row) err = copy_column(&job->ids, &ids_len, error, get, 0);
    if (err == SHOAL_OK && is_row) err = copy_column(&job->request, &job->len, error, get, 1);
    end(get);
    job->n = ids_len / SHOAL_DAP_REPORT_ID;
    if (err != SHOAL_OK) agg_dap_job_release(job);
    return err;
}

agg_err agg_dap_job_set(agg_dap_store *store, agg_error *error, int64_t task,
                        const agg_dap_job *job)
{
    sqlite3_stmt *set = bind(store, JOB_SET, &task, 1);
    bind_bytes(set, 2, job->ids, job->n * SHOAL_DAP_REPORT_ID);
    bind_bytes(set, 3, job->request, job->len);
    return run(store, set, error, "keep the job");
}

agg_err agg_dap_job_remove(agg_dap_store *store, agg_error *error, int64_t task)
{
    return run(store, bind(store, JOB_REMOVE, &task, 1), error, "remove the job");
}

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
    int is_row = 0;
    uint64_t behind = interval.start + interval.duration,
             first = from > interval.start ? from : interval.start;
    *out = (agg_dap_bucket){0};
    if (first >= behind) return SHOAL_OK;
    sqlite3_stmt *next =
        bind_interval(store, BUCKET_NEXT, task, (shoal_dap_interval){first, behind - first});
    agg_err err = step(store, &is_row, next, error, "read a bucket");
    if (err == SHOAL_OK && is_row) {
        out->bucket = (uint64_t)sqlite3_column_int64(next, 0);
        out->n_reports = (uint64_t)sqlite3_column_int64(next, 1);
        err = copy_exactly(store, out->checksum, sizeof out->checksum, error, next, 2);
        if (err == SHOAL_OK) err = copy_column(&out->share, &out->len, error, next, 3);
    }
    end(next);
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
    sqlite3_stmt *set = bind(store, BUCKET_SET, integers, 3);
    bind_bytes(set, 4, bucket->checksum, sizeof bucket->checksum);
    bind_bytes(set, 5, bucket->share, bucket->len);
    return run(store, set, error, "keep a bucket");
}

agg_err agg_dap_bucket_count(agg_dap_store *store, uint64_t *n_reports, agg_error *error,
                             int64_t task, shoal_dap_interval interval)
{
    return read_number(store, n_reports, bind_interval(store, BUCKET_COUNT, task, interval), error,
                       "count a batch");
}

agg_err agg_dap_is_collected(agg_dap_store *store, int *is_collected, agg_error *error,
                             int64_t task, shoal_dap_interval interval)
{
    uint64_t found = 0;
    agg_err err = read_number(store, &found, bind_interval(store, COLLECTED_FIND, task, interval),
                              error, "look for a batch");
    if (err == SHOAL_OK) *is_collected = found != 0;
    return err;
}

agg_err agg_dap_batch_close(agg_dap_store *store, agg_error *error, int64_t task,
                            shoal_dap_interval interval)
{
    agg_err err =
        run(store, bind_interval(store, COLLECTED_ADD, task, interval), error, "enter a batch");
    return err == SHOAL_OK ? run(store, bind_interval(store, BUCKET_REMOVE, task, interval), error,
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
    int is_row = 0;
    *out = (agg_dap_collection){0};
    agg_err err = step(store, &is_row, statement, error, "read a collection");
    if (err == SHOAL_OK && is_row) {
        out->state = (enum agg_dap_collection_state)sqlite3_column_int(statement, 1);
        out->query = (shoal_dap_interval){(uint64_t)sqlite3_column_int64(statement, 2),
                                          (uint64_t)sqlite3_column_int64(statement, 3)};
        out->problem = (uint32_t)sqlite3_column_int(statement, 4);
        err = copy_exactly(store, out->id, sizeof out->id, error, statement, 0);
        if (err == SHOAL_OK)
            err = copy_column(&out->request, &out->request_len, error, statement, 5);
        if (err == SHOAL_OK)
            err = copy_column(&out->share_request, &out->share_request_len, error, statement, 6);
        if (err == SHOAL_OK) err = copy_column(&out->answer, &out->answer_len, error, statement, 7);
    }
    end(statement);
    if (err != SHOAL_OK) agg_dap_collection_release(out);
    return err;
}

agg_err agg_dap_collection_get(agg_dap_store *store, agg_dap_collection *out, agg_error *error,
                               int64_t task, const uint8_t id[AGG_DAP_ID])
{
    sqlite3_stmt *get = bind(store, COLLECTION_GET, &task, 1);
    bind_bytes(get, 2, id, AGG_DAP_ID);
    return read_collection(store, out, error, get);
}

agg_err agg_dap_collection_next(agg_dap_store *store, agg_dap_collection *out, agg_error *error,
                                int64_t task, enum agg_dap_collection_state state,
                                const uint8_t *after)
{
    const int64_t integers[] = {task, (int64_t)state};
    sqlite3_stmt *next = bind(store, COLLECTION_NEXT, integers, 2);
    bind_bytes(next, 3, after, after == NULL ? 0 : AGG_DAP_ID);
    return read_collection(store, out, error, next);
}

agg_err agg_dap_collection_set(agg_dap_store *store, agg_error *error, int64_t task,
                               const agg_dap_collection *collection)
{
    const int64_t integers[] = {task, (int64_t)collection->state, (int64_t)collection->query.start,
                                (int64_t)collection->query.duration, (int64_t)collection->problem};
    sqlite3_stmt *set = bind(store, COLLECTION_SET, integers, 5);
    bind_bytes(set, 6, collection->id, AGG_DAP_ID);
    bind_bytes(set, 7, collection->request, collection->request_len);
    if (collection->share_request != NULL)
        bind_bytes(set, 8, collection->share_request, collection->share_request_len);
    if (collection->answer != NULL) bind_bytes(set, 9, collection->answer, collection->answer_len);
    return run(store, set, error, "keep a collection");
}

agg_err agg_dap_collection_remove(agg_dap_store *store, agg_error *error, int64_t task,
                                  const uint8_t id[AGG_DAP_ID])
{
    sqlite3_stmt *remove = bind(store, COLLECTION_REMOVE, &task, 1);
    bind_bytes(remove, 2, id, AGG_DAP_ID);
    return run(store, remove, error, "remove a collection");
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
        bind_bytes(statement, 3 + i, range[i], AGG_DAP_HASH);
    }
}

agg_err agg_dap_answer_get(agg_dap_store *store, uint8_t **body, size_t *len, agg_error *error,
                           int64_t task, enum agg_dap_answer_kind kind, const uint8_t *hash,
                           int by_id)
{
    int is_row = 0;
    uint8_t range[2][AGG_DAP_HASH];
    const int64_t integers[] = {task, (int64_t)kind};
    sqlite3_stmt *get = bind(store, ANSWER_GET, integers, 2);
    bind_range(get, range, hash, by_id ? AGG_DAP_ID : AGG_DAP_HASH);
    *body = NULL;
    agg_err err = step(store, &is_row, get, error, "find an answer");
    if (err == SHOAL_OK && is_row) err = copy_column(body, len, error, get, 0);
    end(get);
    return err;
}

agg_err agg_dap_answer_set(agg_dap_store *store, agg_error *error, int64_t task,
                           enum agg_dap_answer_kind kind, const uint8_t hash[AGG_DAP_HASH],
                           uint64_t bucket, shoal_bytes body)
{
    const int64_t integers[] = {task, (int64_t)kind, (int64_t)bucket};
    sqlite3_stmt *set = bind(store, ANSWER_SET, integers, 3);
    bind_bytes(set, 4, hash, AGG_DAP_HASH);
    bind_bytes(set, 5, body.at, body.len);
    return run(store, set, error, "keep an answer");
}

agg_err agg_dap_answer_remove(agg_dap_store *store, agg_error *error, int64_t task,
                              enum agg_dap_answer_kind kind, const uint8_t id[AGG_DAP_ID])
{
    uint8_t range[2][AGG_DAP_HASH];
    const int64_t integers[] = {task, (int64_t)kind};
    sqlite3_stmt *remove = bind(store, ANSWER_REMOVE, integers, 2);
    bind_range(remove, range, id, AGG_DAP_ID);
    return run(store, remove, error, "remove an answer");
}

agg_err agg_dap_count(agg_dap_store *store, agg_dap_counts *counts, agg_error *error, int64_t task)
{
    int is_row = 0;
    sqlite3_stmt *count = bind(store, COUNTS, &task, 1);
    agg_err err = step(store, &is_row, count, error, "count");
    if (err == SHOAL_OK && is_row)
        *counts = (agg_dap_counts){
            (uint64_t)sqlite3_column_int64(count, 0), (uint64_t)sqlite3_column_int64(count, 1),
            (uint64_t)sqlite3_column_int64(count, 2), (uint64_t)sqlite3_column_int64(count, 3)};
    end(count);
    return err;
}
