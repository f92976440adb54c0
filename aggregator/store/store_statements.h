// SPDX-License-Identifier: Apache-2.0
// The handle of a store, below all files of this room: its database with every statement, and its
// locks. Only this room includes this header; everybody else includes store.h.
#ifndef STORE_STATEMENTS_H
#define STORE_STATEMENTS_H

#include <pthread.h>

#include "database.h"
#include "period.h"

// The table of imports, which a backup makes too.
#define AGG_STORE_IMPORTS                                                                          \
    "CREATE TABLE IF NOT EXISTS imports(collection INTEGER NOT NULL, manifest BLOB NOT NULL,"      \
    " earlier BLOB NOT NULL, number INTEGER NOT NULL, PRIMARY KEY(collection, manifest))"          \
    " WITHOUT ROWID;"

// Indices of the statements. Those of OLD_ read what version 2 kept by period.
enum statement {
    STATEMENT_RECIPE_FIND,
    STATEMENT_RECIPE_ADD,
    STATEMENT_RECIPE_IDENTITY,
    STATEMENT_KNOWN_FIND,
    STATEMENT_KNOWN_ADD,
    STATEMENT_WAITING_ADD,
    STATEMENT_WAITING_LAST,
    STATEMENT_WAITING_NEXT,
    STATEMENT_WAITING_DELETE,
    STATEMENT_BLOCK_OPEN,
    STATEMENT_BLOCK_LAST,
    STATEMENT_BLOCK_LAST_DAY,
    STATEMENT_BLOCK_SET,
    STATEMENT_BLOCK_CLOSE,
    STATEMENT_BLOCK_FILE,
    STATEMENT_BLOCK_BODY,
    STATEMENT_BLOCK_DELETE,
    STATEMENT_BLOCKS,
    STATEMENT_FILES,
    STATEMENT_FILE_FIND,
    STATEMENT_TICK,
    STATEMENT_TICK_SET,
    STATEMENT_STATISTICS_BATCHES,
    STATEMENT_STATISTICS_WAITING,
    STATEMENT_STATISTICS_NUMBERS,
    STATEMENT_STATISTICS_FOLDED,
    STATEMENT_STATISTICS_RELEASED,
    STATEMENT_STATISTICS_BATCHES_OF_ALL,
    STATEMENT_STATISTICS_WAITING_OF_ALL,
    STATEMENT_STATISTICS_BLOCKS_OF_ALL,
    STATEMENT_RELEASED_OF_ALL,
    STATEMENT_REMOVE_FIND,
    STATEMENT_REMOVE_COUNT,
    STATEMENT_REMOVE_NOTE,
    STATEMENT_REMOVE_WAITING,
    STATEMENT_REMOVE_BLOCKS,
    STATEMENT_REMOVE_TICK,
    STATEMENT_REMOVE_COPIES,
    STATEMENT_COPIES_SET,
    STATEMENT_COPIES_MERGE,
    STATEMENT_COPIES_DELETE,
    STATEMENT_IMPORTS,
    STATEMENT_IMPORTS_COUNT,
    STATEMENT_IMPORTS_ADD,
    STATEMENT_OLD_WAITING,
    STATEMENT_OLD_ACCUMULATORS,
    STATEMENT_OLD_SUMS,
    STATEMENT_OLD_SUM,
    STATEMENT_OLD_ACCUMULATORS_DELETE,
    STATEMENT_OLD_SUMS_DELETE,
    STATEMENT_OLD_RELEASED_DELETE,
    STATEMENT_COUNT
};

typedef struct agg_store agg_store;
struct agg_store {
    agg_database database;
    // A thread takes locks in the order fold, files, db. `db` guards the database; `files` keeps
    // closed blocks from being removed while they are read; `fold` lets one fold, close or
    // migration run at a time.
    pthread_mutex_t db_mutex, files_mutex, fold_mutex;
    bool has_old_sums; // under db_mutex: the write-ahead log holds sums that later ones replaced
    // The queue of batches that wait for a transaction of sums; see store_sum.c. No thread holds
    // sum_mutex together with another lock.
    pthread_mutex_t sum_mutex;
    pthread_cond_t sum_done;
    struct agg_sum_put *sum_first, **sum_last;
    bool is_summing;   // a thread is at a transaction
    size_t fold_bytes; // bytes of records that a fold groups at once
    // Tables of copies; entered under fold_mutex and db_mutex, and never taken out. store_copies.h
    // says which lock guards a table's content.
    struct agg_store_table *tables;
};

// Returns: the layout of the store's database.
const agg_database_layout *agg_store_layout(void);

// Opens the store's database in its folder; see agg_database_open.
agg_err agg_store_open_database(agg_store *store, agg_error *error,
                                const char *folder) SHOAL_MUST_CHECK;

#endif
