// SPDX-License-Identifier: Apache-2.0
// Copies among the records of a store's blocks (copies.h): a table in memory for each open block,
// and what it saw of a closed block in the database.
//
// A table begins with its block and is cleared in the moment in which the block closes, so what is
// said of a closed block is of its records alone, and nothing is said of an open one. Fingerprints
// are never written: a table that a restart lost is gone, and the block's row says that not all of
// its records passed. So it does where a fold or a transaction failed, since nobody knows then
// which records are in the block.
//
// The rows are in a table of their own, beside the schema's version: an older release opens the
// store, knows nothing of them, and leaves rows that no longer fit their blocks. A row counts only
// while its block holds as many records as it says.
#ifndef STORE_COPIES_H
#define STORE_COPIES_H

#include "copies.h"
#include "store_statements.h"

// The table of a collection's open block.
typedef struct agg_store_table {
    int64_t collection;
    agg_copies copies;
    bool is_whole; // every record of the open block passed
    struct agg_store_table *next;
} agg_store_table;

// Returns: the table of a collection, or NULL where its copies are not counted. Call with
// fold_mutex or db_mutex held. A table of aggregation "sum" is changed under db_mutex, another one
// under fold_mutex; blocks close under both.
agg_store_table *agg_store_table_of(agg_store *store, int64_t collection);

// Forgets what a table has seen of a block of which nobody knows any more what it holds. table may
// be NULL.
void agg_store_table_spoil(agg_store_table *table);

// Enters what the table saw of the block that closes. Call inside the closing transaction.
//   records: of the block
agg_err agg_store_enter_copies(agg_store *store, agg_error *error, int64_t collection,
                               int64_t number, int64_t records) SHOAL_MUST_CHECK;

// Begins the table of the next block. Call when the closing is committed, with its locks held.
void agg_store_clear_copies(agg_store *store, int64_t collection);

// Puts one row in the place of those of the blocks `first` to `last`, which are merged into `last`.
// Call inside the merging transaction, while the blocks' own rows are still there.
//   records: of the merged block
agg_err agg_store_merge_copies(agg_store *store, agg_error *error, int64_t collection,
                               int64_t first, int64_t last, int64_t records) SHOAL_MUST_CHECK;

void agg_store_release_tables(agg_store *store);

#endif
