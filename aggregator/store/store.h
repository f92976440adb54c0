// SPDX-License-Identifier: Apache-2.0
// The aggregator's durable state: the batches that it acknowledged, and the accumulators that they
// were folded into.
//
// The store is a folder with `shoal.db` (SQLite, write-ahead log, full sync), a `lock`, and
// `accumulators/` with one file for each collection and period.
//
// A recipe of aggregation "reports" goes through three steps:
//
//     put     One transaction writes the batch's id, which is kept for ever, and its bytes.
//             When put returns, the batch is durable, and a second delivery of it changes nothing.
//     fold    writes the accumulator with the waiting batches as a file of the next generation and
//             syncs it. One transaction then names that generation and deletes the bytes of exactly
//             those batches. The old file is removed last.
//     forget  writes a generation without the distinct records, once they need not be kept.
//
// A process that is killed at any point leaves a database that names either the old file, with the
// batches still waiting, or the new file, without them. The other file is removed at the next open.
// So nothing that was acknowledged is lost, and nothing counts twice.
//
// Of a recipe of aggregation "sum" no record is written, and no batch waits:
//
//     put      sums the batch in memory. One transaction writes its id and the period's new sum;
//              batches that are put at the same time share a transaction. The disk, the log and its
//              free pages included, holds sums only. Two versions of a sum differ by at least one
//              batch, and a batch below the recipe's `batch.minimum` is refused.
//     release  makes sums loadable, at least `cohort.minimum` records at a time. Closed periods are
//              released whole. Neighbours that are too small alone become one block, and a block is
//              loaded whole or not at all. A period can grow after its release: it never closes, or
//              a clock was set back. It is then loaded as it was released until it has grown by the
//              minimum. So any two loads differ by the minimum or not at all, whoever loads when.
//
// The store keeps no time except the period. Ids are kept apart from the bytes and without their
// order. Deleted bytes are overwritten. One process at a time holds a store. Every function may be
// called from any thread, except open and close.
#ifndef STORE_H
#define STORE_H

#include "accumulator.h"
#include "agg_error.h"
#include "batch.h"
#include "period.h"
#include "store_fold.h"
#include "store_release.h"

#define AGG_STORE_SUM_MAX ((uint64_t)16 << 20) // bytes of the largest sum that a recipe may have

typedef struct agg_store agg_store;

typedef enum agg_put { AGG_PUT_STORED = 1, AGG_PUT_KNOWN = 2 } agg_put;

typedef struct agg_store_stats {
    uint64_t batches;         // ids known: every batch ever acknowledged
    uint64_t waiting_batches; // not folded yet
    uint64_t waiting_bytes;
    uint64_t records;  // folded, over all periods
    uint64_t periods;  // accumulators
    uint64_t released; // records that agg_store_load may return
} agg_store_stats;

// Opens or creates the store in a folder (created with mode 0700) and removes what a crash left
// behind. A store of an older version is upgraded.
// Returns: AGG_ERR_IO when another process holds the store, SQLite refuses, or an accumulator's
// file is missing; SHOAL_ERR_VERSION for a store of a newer version.
agg_err agg_store_open(agg_store **store, agg_error *error, const char *folder) SHOAL_MUST_CHECK;

// Closes the store. Batches that wait stay for the next open. store may be NULL.
void agg_store_close(agg_store *store);

// Finds or enters a finished recipe by its hash.
//   collection: the recipe's number in this store
// Returns: SHOAL_ERR_RANGE for a recipe of aggregation "sum" whose sum is larger than
// AGG_STORE_SUM_MAX.
agg_err agg_store_collection(agg_store *store, int64_t *collection, agg_error *error,
                             const shoal_recipe *recipe) SHOAL_MUST_CHECK;

// Keeps a batch that shoal_batch_open accepted.
//   put: whether the batch was new
//   period: where its records count
// Returns: SHOAL_OK when the batch is durable; AGG_ERR_IO when it is not, and then it may be sent
// again. Where records are summed also SHOAL_ERR_RANGE for a batch below the minimum and
// SHOAL_ERR_OVERFLOW for a sum that is full.
// Cost: where records are summed, each call takes the memory of one sum.
agg_err agg_store_put(agg_store *store, agg_put *put, agg_error *error, int64_t collection,
                      const shoal_recipe *recipe, agg_period period, const uint8_t id[16],
                      const uint8_t *bytes, size_t len) SHOAL_MUST_CHECK;

// Finds how many bytes the files of a collection's accumulators have, and the batches that wait.
agg_err agg_store_bytes(agg_store *store, uint64_t *files, uint64_t *waiting, agg_error *error,
                        int64_t collection) SHOAL_MUST_CHECK;

// Sums the folded periods within a span; of a recipe of aggregation "sum" the released blocks.
// Release `acc` on OK.
//   acc: empty (n = 0) when no period lies within the span
// Returns: SHOAL_ERR_RANGE when a stored period or block lies across the span's edge.
agg_err agg_store_load(agg_store *store, agg_accumulator *acc, agg_error *error, int64_t collection,
                       const shoal_recipe *recipe, agg_span span) SHOAL_MUST_CHECK;

// Reads a number that changes whenever a fold or a release changes what agg_store_load returns for
// the collection.
agg_err agg_store_stamp(agg_store *store, uint64_t *stamp, agg_error *error,
                        int64_t collection) SHOAL_MUST_CHECK;

// Counts a collection's batches, records and periods.
agg_err agg_store_statistics(agg_store *store, agg_store_stats *stats, agg_error *error,
                             int64_t collection) SHOAL_MUST_CHECK;

#endif
