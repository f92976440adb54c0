// SPDX-License-Identifier: Apache-2.0
// What store.c and store_fold.c share. Nothing else includes this.
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
    STATEMENT_STAMP,
    STATEMENT_STATISTICS_BATCHES,
    STATEMENT_STATISTICS_WAITING,
    STATEMENT_STATISTICS_FOLDED,
    STATEMENT_COUNT
};

struct agg_store {
    char *folder;
    int lock_fd;
    sqlite3 *db;
    sqlite3_stmt *statements[STATEMENT_COUNT];
    // Order: fold, files, db. `db` guards the connection and every statement; `files` keeps a named file from being removed
    // while it is read; `fold` lets one fold run at a time.
    pthread_mutex_t db_mutex, files_mutex, fold_mutex;
};

// Fills `error` with what SQLite says last. Returns: AGG_ERR_IO. Call with db_mutex held.
shoal_err agg_store_fail(agg_store *store, agg_error *error, const char *what);

// The statement with its integers bound, ready to step. Call with db_mutex held.
sqlite3_stmt *agg_store_bind(agg_store *store, enum statement number, const int64_t *integers, int n_integers);

// Steps a statement that gives no rows, and resets it. Returns: 1, or 0 with SQLite's error left to agg_store_fail.
int agg_store_step(sqlite3_stmt *statement);

// Writes the path of an accumulator's file. Returns: a string to free, or NULL with `error` filled.
char *agg_store_path(const agg_store *store, agg_error *error, int64_t collection, agg_period period,
                     int64_t generation);

// Removes files of `accumulators/` that the database does not name. Used at open.
shoal_err agg_store_sweep(agg_store *store, agg_error *error);

#endif
