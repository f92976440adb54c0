// SPDX-License-Identifier: Apache-2.0
// The aggregator's durable state: the batches that it acknowledged, and the accumulators that they
// were folded into.
//
// The store is a folder with `shoal.db` (SQLite, write-ahead log, full sync), a `lock`, and
// `accumulators/` with one file for each block.
//
// What is released. A collection's records are partitioned once, in the order of arrival, into
// blocks. One block is open: whatever is put counts there, late batches too. At a tick (period.h)
// the open block closes if it holds at least `block.minimum` records; else it waits for the next
// tick. Closing is one transaction, and a closed block never changes. Every question is answered
// from whole closed blocks, and nothing of the open block shows. So the reports behind any two
// answers differ by none or by at least the minimum, whoever asks what and when.
//
// A recipe of aggregation "reports" goes through four steps:
//
//     put     One transaction writes the batch's id, which is kept for ever, and its bytes.
//             When put returns, the batch is durable, and a second delivery of it changes nothing.
//     fold    writes the open block's accumulator with the waiting batches as a file of the next
//             generation and syncs it. One transaction then names that file and deletes the bytes
//             of exactly those batches. The old file is removed last.
//     close   One transaction marks the open block as closed; its file stays.
//     merge   puts one coarser block in the place of several, once they are old enough.
//     forget  writes a generation without the distinct records, once they need not be kept.
//
// A process that is killed at any point leaves a database that names either the old file, with the
// batches still waiting, or the new file, without them. The other file is removed at the next open.
// So nothing that was acknowledged is lost, and nothing counts twice.
//
// Of a recipe of aggregation "sum" no record is written, and no batch waits:
//
//     put     sums the batch in memory. One transaction writes its id and the open block's new sum;
//             batches that are put at the same time share a transaction. The disk, the log and its
//             free pages included, holds sums only. Two versions of a sum differ by at least one
//             batch.
//     close, merge   as above; the sums stay in the database.
//
// The store keeps no time except days and the last tick. Ids are kept apart from the bytes and
// without their order. Deleted bytes are overwritten. One process at a time holds a store. Every
// function may be called from any thread, except open and close.
#ifndef STORE_H
#define STORE_H

#include "accumulator.h"
#include "agg_error.h"
#include "batch.h"
#include "period.h"
#include "store_check.h"
#include "store_close.h"
#include "store_fold.h"
#include "store_import.h"
#include "store_merge.h"
#include "store_statistics.h"

#define AGG_STORE_SUM_MAX ((uint64_t)16 << 20) // bytes of the largest sum that a recipe may have

typedef struct agg_store agg_store;

typedef enum agg_put { AGG_PUT_STORED = 1, AGG_PUT_KNOWN = 2 } agg_put;

// Opens or creates the store in a folder (created with mode 0700) and removes what a crash left
// behind. All files get mode 0600. A store of an older version is upgraded.
// Returns: AGG_ERR_IO when another process holds the store, SQLite refuses, the database is damaged
// (agg_database_open), or an accumulator's file is missing; SHOAL_ERR_VERSION for a store of a
// newer version.
agg_err agg_store_open(agg_store **store, agg_error *error, const char *folder) SHOAL_MUST_CHECK;

// Closes the store. Batches that wait stay for the next open. store may be NULL.
void agg_store_close(agg_store *store);

// Finds or enters a finished recipe by its hash. What version 2 of the store kept of it by period
// becomes blocks, in one transaction: closed periods, grouped with their neighbours where they hold
// less than the minimum, are closed blocks, released sums keep their groups, and the rest is the
// open block.
//   collection: the recipe's number in this store
//   today: days since 1970-01-01
// Returns: SHOAL_ERR_RANGE for a recipe of aggregation "sum" whose sum is larger than
// AGG_STORE_SUM_MAX.
agg_err agg_store_collection(agg_store *store, int64_t *collection, agg_error *error,
                             const shoal_recipe *recipe, int32_t today) SHOAL_MUST_CHECK;

// Finds a recipe by its hash without entering it.
//   collection: 0 where the store has never had it
agg_err agg_store_find(agg_store *store, int64_t *collection, agg_error *error,
                       const uint8_t recipe_hash[32]) SHOAL_MUST_CHECK;

// Keeps a batch that shoal_batch_open accepted, in the open block.
//   put: whether the batch was new
//   today: days since 1970-01-01
// Returns: SHOAL_OK when the batch is durable; AGG_ERR_IO when it is not, and then it may be sent
// again; SHOAL_ERR_ARGUMENT for a new batch of a collection that is fed by imports; SHOAL_ERR_RANGE
// for a new batch of fewer records than the recipe's batch.minimum; where
// records are summed also SHOAL_ERR_OVERFLOW for a sum that is full.
// Cost: where records are summed, each call takes the memory of one sum.
agg_err agg_store_put(agg_store *store, agg_put *put, agg_error *error, int64_t collection,
                      const shoal_recipe *recipe, int32_t today, const uint8_t id[16],
                      const uint8_t *bytes, size_t len) SHOAL_MUST_CHECK;

// Counts copies among the records of a collection's blocks from now on (copies.h), where its
// records tell copies from a crowd. Tables are in memory: what is in the open block already did not
// pass, and agg_released says so. Call once a start, before the first put or fold. Returns:
// AGG_ERR_MEMORY. Cost: agg_copies_memory bytes, until the store is closed.
agg_err agg_store_count_copies(agg_store *store, agg_error *error, int64_t collection,
                               const shoal_recipe *recipe) SHOAL_MUST_CHECK;

// Finds how many bytes the files of a collection's accumulators have, and the batches that wait.
agg_err agg_store_bytes(agg_store *store, uint64_t *files, uint64_t *waiting, agg_error *error,
                        int64_t collection) SHOAL_MUST_CHECK;

// What agg_store_remove removed.
typedef struct agg_removed {
    uint64_t collections;
    uint64_t batches; // that arrived since the last removal
    uint64_t records; // folded
} agg_removed;

// Removes every report of the collections of a recipe: blocks, waiting batches and sums. One
// transaction empties the database; the files go next, and what a crash leaves of them goes at the
// next open. The batches' ids and the recipe's row stay, so that a batch that is delivered again is
// known, and the next block gets the next number.
//   name: the recipe's id, or the 64 hex digits of its hash
//   removed: zeros when the store has no such recipe, or got no batch of it since the last removal
agg_err agg_store_remove(agg_store *store, agg_removed *removed, agg_error *error,
                         const char *name) SHOAL_MUST_CHECK;

#endif
