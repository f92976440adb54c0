// SPDX-License-Identifier: Apache-2.0
// The schema of a DAP server's store and its statements; see dap_store_statements.h.
#include "dap_store_statements.h"

#define DATABASE_VERSION 1

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

static const char *const upgrades[DATABASE_VERSION] = {schema_1};

// ?1 is the task in every statement that has one.
static const char *const sql[DAP_STATEMENTS] = {
    [DAP_TASK_FIND] = "SELECT task, digest FROM tasks WHERE id = ?1",
    [DAP_TASK_ADD] = "INSERT INTO tasks(id, digest) VALUES(?1, ?2)",
    [DAP_FLOOR_GET] = "SELECT floor FROM tasks WHERE task = ?1",
    [DAP_FLOOR_SET] = "UPDATE tasks SET floor = max(floor, ?2) WHERE task = ?1",
    [DAP_FORGET_KNOWN] = "DELETE FROM known WHERE task = ?1 AND id IN"
                         " (SELECT id FROM known WHERE task = ?1 AND bucket < ?2 LIMIT ?3)",
    // The reports of a job must stay until the helper has answered it, so none is deleted
    // meanwhile.
    [DAP_FORGET_REPORTS] =
        "DELETE FROM reports WHERE task = ?1 AND NOT EXISTS (SELECT 1 FROM jobs WHERE task = ?1)"
        " AND id IN (SELECT id FROM reports WHERE task = ?1 AND bucket < ?2 LIMIT ?3)",
    [DAP_FORGET_ANSWERS] =
        "DELETE FROM answers WHERE task = ?1 AND (kind, hash) IN"
        " (SELECT kind, hash FROM answers WHERE task = ?1 AND bucket < ?2 LIMIT ?3)",
    [DAP_KNOWN_FIND] = "SELECT 1 FROM known WHERE task = ?1 AND id = ?2",
    [DAP_KNOWN_ADD] = "INSERT INTO known(task, id, bucket) VALUES(?1, ?2, ?3)",
    [DAP_REPORT_ADD] = "INSERT INTO reports(task, id, bucket, body) VALUES(?1, ?2, ?3, ?4)",
    [DAP_REPORT_REMOVE] = "DELETE FROM reports WHERE task = ?1 AND id = ?2",
    [DAP_REPORT_REMOVE_ALL] = "DELETE FROM reports WHERE task = ?1 AND bucket BETWEEN ?2 AND ?3",
    [DAP_REPORT_FIND] = "SELECT id, bucket, body FROM reports WHERE task = ?1 AND id = ?2",
    [DAP_REPORT_NEXT] = "SELECT id, bucket, body FROM reports WHERE task = ?1 ORDER BY id",
    [DAP_REPORT_COUNT] = "SELECT count(*) FROM (SELECT 1 FROM reports WHERE task = ?1 AND bucket "
                         "BETWEEN ?2 AND ?3 LIMIT ?4)",
    [DAP_JOB_GET] = "SELECT ids, request FROM jobs WHERE task = ?1",
    [DAP_JOB_SET] = "INSERT INTO jobs(task, ids, request) VALUES(?1, ?2, ?3)",
    [DAP_JOB_REMOVE] = "DELETE FROM jobs WHERE task = ?1",
    [DAP_BUCKET_NEXT] = "SELECT bucket, reports, checksum, share FROM buckets WHERE task = ?1 AND "
                        "bucket BETWEEN ?2 AND ?3"
                        " ORDER BY bucket LIMIT 1",
    [DAP_BUCKET_SET] =
        "INSERT INTO buckets(task, bucket, reports, checksum, share) VALUES(?1, ?2, ?3, ?4, ?5)"
        " ON CONFLICT DO UPDATE SET reports = excluded.reports, checksum = excluded.checksum,"
        " share = excluded.share",
    [DAP_BUCKET_REMOVE] = "DELETE FROM buckets WHERE task = ?1 AND bucket BETWEEN ?2 AND ?3",
    // Collected intervals do not overlap, so only the last one that begins before the end counts.
    [DAP_COLLECTED_FIND] =
        "SELECT last >= ?2 FROM collected WHERE task = ?1 AND first <= ?3 ORDER BY "
        "first DESC LIMIT 1",
    [DAP_COLLECTED_ADD] = "INSERT INTO collected(task, first, last) VALUES(?1, ?2, ?3)",
    [DAP_COLLECTION_GET] =
        "SELECT id, state, start, duration, problem, request, share_request, answer "
        "FROM collections"
        " WHERE task = ?1 AND id = ?2",
    [DAP_COLLECTION_NEXT] = "SELECT id, state, start, duration, problem, request, share_request, "
                            "answer FROM collections"
                            " WHERE task = ?1 AND state = ?2 AND id > ?3 ORDER BY id LIMIT 1",
    [DAP_COLLECTION_SET] =
        "INSERT OR REPLACE INTO collections"
        "(task, state, start, duration, problem, id, request, share_request, answer)"
        " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    [DAP_COLLECTION_REMOVE] = "DELETE FROM collections WHERE task = ?1 AND id = ?2",
    [DAP_ANSWER_GET] =
        "SELECT body FROM answers WHERE task = ?1 AND kind = ?2 AND hash BETWEEN ?3 AND ?4",
    [DAP_ANSWER_SET] =
        "INSERT INTO answers(task, kind, hash, bucket, body) VALUES(?1, ?2, ?4, ?3, ?5)",
    [DAP_ANSWER_REMOVE] =
        "DELETE FROM answers WHERE task = ?1 AND kind = ?2 AND hash BETWEEN ?3 AND ?4",
    [DAP_COUNTS] = "SELECT (SELECT count(*) FROM reports WHERE task = ?1),"
                   " (SELECT ifnull(sum(reports), 0) FROM buckets WHERE task = ?1),"
                   " (SELECT count(*) FROM jobs WHERE task = ?1),"
                   " (SELECT count(*) FROM collections WHERE task = ?1 AND state < 2)",
};

agg_err agg_dap_store_open_database(agg_dap_store *store, agg_error *error, const char *folder)
{
    static const agg_database_layout layout = {.file = "dap.db",
                                               .upgrades = upgrades,
                                               .version = DATABASE_VERSION,
                                               .statements = sql,
                                               .n_statements = DAP_STATEMENTS};
    return agg_database_open(&store->database, error, folder, &layout);
}

int64_t agg_dap_column_of(uint64_t bucket)
{
    return bucket > INT64_MAX ? INT64_MAX : (int64_t)bucket;
}

sqlite3_stmt *agg_dap_bind_interval(agg_dap_store *store, enum agg_dap_statement number,
                                    int64_t task, shoal_dap_interval interval)
{
    const int64_t integers[] = {task, agg_dap_column_of(interval.start),
                                agg_dap_column_of(interval.start + interval.duration - 1)};
    return agg_database_bind(&store->database, number, integers, 3);
}

agg_err agg_dap_read_count(agg_dap_store *store, uint64_t *count, agg_error *error,
                           sqlite3_stmt *statement, const char *what)
{
    int64_t value = 0;
    agg_err err = agg_database_read_integer(&store->database, &value, error, statement, what);
    if (err == SHOAL_OK) *count = (uint64_t)value;
    return err;
}
