// SPDX-License-Identifier: Apache-2.0
// The handle of a store, below all files of this room: its database with every statement, and its
// locks. Only this room includes this header; everybody else includes store.h.
#ifndef STORE_STATEMENTS_H
#define STORE_STATEMENTS_H

#include <pthread.h>

#include "database.h"
#include "period.h"

// Indices of the statements.
enum statement {
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

typedef struct agg_store agg_store;
struct agg_store {
    agg_database database;
    // A thread takes locks in the order fold, files, db. `db` guards the database; `files` keeps an
    // accumulator's file from being removed while it is read; `fold` lets one fold run at a time.
    pthread_mutex_t db_mutex, files_mutex, fold_mutex;
    bool has_old_sums; // under db_mutex: the write-ahead log holds sums that later ones replaced
    // The queue of batches that wait for a transaction of sums; see store_sum.c. No thread holds
    // sum_mutex together with another lock.
    pthread_mutex_t sum_mutex;
    pthread_cond_t sum_done;
    struct agg_sum_put *sum_first, **sum_last;
    bool is_summing;   // a thread is at a transaction
    size_t fold_bytes; // bytes of records that a fold groups at once
};

// Opens the store's database in its folder; see agg_database_open.
agg_err agg_store_open_database(agg_store *store, agg_error *error,
                                const char *folder) SHOAL_MUST_CHECK;

// Reads a period of the current row: its kind from `column`, its start from the next one.
// Returns: AGG_ERR_IO for a kind that this program does not know.
agg_err agg_store_read_period(const agg_store *store, agg_period *period, agg_error *error,
                              sqlite3_stmt *statement, int column) SHOAL_MUST_CHECK;

#endif
