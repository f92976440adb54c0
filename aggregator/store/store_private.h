// SPDX-License-Identifier: Apache-2.0
// What store.c, store_fold.c and store_sum.c share. Nothing else includes this.
#ifndef STORE_PRIVATE_H
#define STORE_PRIVATE_H

#include <pthread.h>
#include <sqlite3.h>

#include "store.h"

// Every statement, prepared once at open.
enum statement {
    STATEMENT_BEGIN,
    STATEMENT_COMMIT,
    STATEMENT_ROLLBACK,
    STATEMENT_RECIPE_FIND,
    STATEMENT_RECIPE_ADD,
    STATEMENT_KNOWN_FIND,
    STATEMENT_KNOWN_ADD,
    STATEMENT_WAITING_ADD,
    STATEMENT_WAITING_LAST,
    STATEMENT_WAITING_PERIOD,
    STATEMENT_WAITING_NEXT,
    STATEMENT_WAITING_DELETE,
    STATEMENT_ACCUMULATOR_FIND,
    STATEMENT_ACCUMULATOR_SET,
    STATEMENT_ACCUMULATORS,
    STATEMENT_ACCUMULATOR_ALL,
    STATEMENT_SUM_FIND,
    STATEMENT_SUM_SET,
    STATEMENT_SUMS,
    STATEMENT_RELEASED_KEEP,
    STATEMENT_RELEASE,
    STATEMENT_RELEASED,
    STATEMENT_RELEASED_FIND,
    STATEMENT_STAMP,
    STATEMENT_STATISTICS_BATCHES,
    STATEMENT_STATISTICS_WAITING,
    STATEMENT_STATISTICS_FOLDED,
    STATEMENT_STATISTICS_RELEASED,
    STATEMENT_COUNT
};

typedef struct agg_sum_put agg_sum_put; // a batch on its way into a sum; store_sum.c

struct agg_store {
    char *folder;
    int lock_fd;
    sqlite3 *db;
    sqlite3_stmt *statements[STATEMENT_COUNT];
    // Order: fold, files, db. `db` guards the connection and every statement; `files` keeps a named
    // file from being removed while it is read; `fold` lets one fold run at a time.
    pthread_mutex_t db_mutex, files_mutex, fold_mutex;
    int has_old_sums; // under db_mutex: the write-ahead log holds sums that later ones replaced
    // Batches that wait for a transaction of sums, and whether a thread is at one. Never held
    // together with another.
    pthread_mutex_t sum_mutex;
    pthread_cond_t sum_done;
    agg_sum_put *sum_first, **sum_last;
    int is_summing;
    size_t fold_bytes; // of records that a fold groups at once
};

// Fills `error` with what SQLite says last. Returns: AGG_ERR_IO. Call with db_mutex held.
agg_err agg_store_fail(agg_store *store, agg_error *error, const char *what);

// The statement with its integers bound, ready to step. Call with db_mutex held.
sqlite3_stmt *agg_store_bind(agg_store *store, enum statement number, const int64_t *integers,
                             int n_integers);

// Steps a statement that gives no rows, and resets it. Returns: 1, or 0 with SQLite's error left to
// agg_store_fail.
int agg_store_step(sqlite3_stmt *statement);

// Whether a batch's id is known; enters it. Inside a transaction. Returns: 1 or 0, or -1 with
// SQLite's error set.
int agg_store_known(agg_store *store, int64_t collection, const uint8_t id[16]);
int agg_store_know(agg_store *store, int64_t collection, const uint8_t id[16]);

// agg_store_put and agg_store_load of a recipe of aggregation "sum".
agg_err agg_store_put_sum(agg_store *store, agg_put *put, agg_error *error, int64_t collection,
                          const shoal_recipe *recipe, agg_period period, const uint8_t id[16],
                          const uint8_t *bytes, size_t len);
agg_err agg_store_load_sum(agg_store *store, agg_accumulator *acc, agg_error *error,
                           int64_t collection, const shoal_recipe *recipe, agg_span span);

// Whether the database may hold this kind of period.
int agg_store_is_kind(int64_t kind);

// Refuses a span that cuts these days, which are kept in one. Returns: SHOAL_ERR_RANGE.
agg_err agg_store_fail_across(agg_error *error, agg_span kept);

// Writes the path of an accumulator's file. Returns: a string to free, or NULL with `error` filled.
char *agg_store_path(const agg_store *store, agg_error *error, int64_t collection,
                     agg_period period, int64_t generation);

// Removes files of `accumulators/` that the database does not name. Used at open.
agg_err agg_store_sweep(agg_store *store, agg_error *error);

#endif
