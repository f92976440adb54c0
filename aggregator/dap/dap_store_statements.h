// SPDX-License-Identifier: Apache-2.0
// The handle of a DAP server's store, below all files that read or write it: its database with
// every statement, and its lock. Only the store's own files include this header; everybody else
// includes dap_store.h.
#ifndef DAP_STORE_STATEMENTS_H
#define DAP_STORE_STATEMENTS_H

#include <pthread.h>

#include "agg_error.h"
#include "dap.h"
#include "database.h"

// Indices of the statements.
enum agg_dap_statement {
    DAP_TASK_FIND,
    DAP_TASK_ADD,
    DAP_FLOOR_GET,
    DAP_FLOOR_SET,
    DAP_FORGET_KNOWN,
    DAP_FORGET_REPORTS,
    DAP_FORGET_ANSWERS,
    DAP_KNOWN_FIND,
    DAP_KNOWN_ADD,
    DAP_REPORT_ADD,
    DAP_REPORT_REMOVE,
    DAP_REPORT_REMOVE_ALL,
    DAP_REPORT_FIND,
    DAP_REPORT_NEXT,
    DAP_REPORT_COUNT,
    DAP_JOB_GET,
    DAP_JOB_SET,
    DAP_JOB_REMOVE,
    DAP_BUCKET_NEXT,
    DAP_BUCKET_SET,
    DAP_BUCKET_REMOVE,
    DAP_COLLECTED_FIND,
    DAP_COLLECTED_ADD,
    DAP_COLLECTION_GET,
    DAP_COLLECTION_NEXT,
    DAP_COLLECTION_SET,
    DAP_COLLECTION_REMOVE,
    DAP_ANSWER_GET,
    DAP_ANSWER_SET,
    DAP_ANSWER_REMOVE,
    DAP_COUNTS,
    DAP_STATEMENTS
};

typedef struct agg_dap_store agg_dap_store;
struct agg_dap_store {
    agg_database database;
    pthread_mutex_t mutex; // held from agg_dap_begin to agg_dap_commit or agg_dap_abandon
};

// Opens the server's database in its folder; see agg_database_open.
agg_err agg_dap_store_open_database(agg_dap_store *store, agg_error *error,
                                    const char *folder) SHOAL_MUST_CHECK;

// Returns: a bucket's number, or an interval's end, as SQLite's signed integer. No bucket is above
// INT64_MAX, but an interval's end may be; it is cut.
int64_t agg_dap_column_of(uint64_t bucket);

// Binds a statement over the buckets of an interval: ?1 the task, ?2 the first bucket, ?3 the last.
sqlite3_stmt *agg_dap_bind_interval(agg_dap_store *store, enum agg_dap_statement number,
                                    int64_t task, shoal_dap_interval interval);

// Runs a query whose one row is one count; no row is 0.
agg_err agg_dap_read_count(agg_dap_store *store, uint64_t *count, agg_error *error,
                           sqlite3_stmt *statement, const char *what) SHOAL_MUST_CHECK;

#endif
