// SPDX-License-Identifier: Apache-2.0
// The aggregator's durable state: batches that were acknowledged, and the accumulators they were
// folded into.
//
// A folder holds `shoal.db` (SQLite, WAL, full sync), `lock`, and `accumulators/` with one file a
// collection and period.
//
//     put   one transaction writes the batch's id (kept for ever) and its bytes. Once it returns,
//     the batch is durable,
//           and its id is known: a second delivery changes nothing.
//     fold  writes accumulator + waiting batches as a file of the next generation, synced, and
//     then, in one transaction,
//           names that generation and deletes the bytes of exactly those batches. The old file goes
//           last.
//     forget  writes a generation without the distinct records, once they need not be kept any
//     more.
//
// Killed at any point, the database names either the old file with the batches still waiting, or
// the new file without them; the other file is a leftover, removed at the next open. So nothing
// acknowledged is lost and nothing counts twice.
//
// Of a recipe with aggregation "sum" no record is written, and nothing waits:
//
//     put      sums the batch in memory; one transaction writes its id and the period's sum with
//     it. Batches that are put
//              together share a transaction. The disk (log and free pages included) holds sums; two
//              versions of one differ by a batch at least, and a batch below the recipe's
//              `batch.minimum` is refused.
//     release  makes a sum loadable, `cohort.minimum` records at a time. Closed periods are
//     released whole; neighbours
//              that are too small alone become one block, and a block is loaded whole or not. A
//              period that grows after its release (one that never closes, a clock set back) is
//              loaded as it was released, until it grew by the minimum. So any two loads differ by
//              the minimum or not at all, whoever asks when.
//
// No time is kept but the period. Ids are kept without their order, apart from the bytes. Deleted
// bytes are overwritten. One process at a time holds a store (a lock on `lock`). Every function may
// be called from any thread, except open and close.
#ifndef STORE_H
#define STORE_H

#include "accumulator.h"
#include "agg_error.h"
#include "batch.h"
#include "period.h"

#define AGG_STORE_VERSION                                                                          \
    2 // PRAGMA user_version; a newer one is refused, an older one is brought up at open
#define AGG_STORE_FOLD_BYTES ((size_t)16 << 20)
#define AGG_STORE_DATABASE_BYTES                                                                   \
    ((uint64_t)6 << 20) // what SQLite takes beside the largest thing that it is given
#define AGG_STORE_SUM_MAX                                                                          \
    ((uint64_t)16 << 20) // bytes of a recipe's sum that is rewritten with every transaction

typedef struct agg_store agg_store;

typedef enum agg_put { AGG_PUT_STORED = 1, AGG_PUT_KNOWN = 2 } agg_put;

typedef struct agg_store_stats {
    uint64_t batches;         // ids known: every batch ever acknowledged
    uint64_t waiting_batches; // not folded yet
    uint64_t waiting_bytes;
    uint64_t records;  // folded, over all periods
    uint64_t periods;  // accumulators
    uint64_t released; // records that agg_store_load may give
} agg_store_stats;

// Opens or creates the store in a folder (created with mode 0700) and removes what a crash left
// behind. Returns: AGG_ERR_IO when another process holds it or SQLite refuses; SHOAL_ERR_VERSION
// for a newer store.
agg_err agg_store_open(agg_store **store, agg_error *error, const char *folder) SHOAL_MUST_CHECK;

// Closes; what was put stays for the next open. store may be NULL.
void agg_store_close(agg_store *store);

// Finds or enters a finished recipe by its hash; `collection` numbers it in this store.
// Returns: SHOAL_ERR_RANGE for a recipe of aggregation "sum" whose sum is larger than
// AGG_STORE_SUM_MAX.
agg_err agg_store_collection(agg_store *store, int64_t *collection, agg_error *error,
                             const shoal_recipe *recipe) SHOAL_MUST_CHECK;

// Keeps a batch that shoal_batch_open accepted.
//   put: whether it was new
//   period: where its records count
// Returns: SHOAL_OK when the batch is on the disk; AGG_ERR_IO when it is not, and then it may be
// sent again;
//   SHOAL_ERR_RANGE for a batch below the minimum, SHOAL_ERR_OVERFLOW for a sum that is full: only
//   where records are summed
// Memory: one sum a call where records are summed.
agg_err agg_store_put(agg_store *store, agg_put *put, agg_error *error, int64_t collection,
                      const shoal_recipe *recipe, agg_period period, const uint8_t id[16],
                      const uint8_t *bytes, size_t len) SHOAL_MUST_CHECK;

// Folds every waiting batch of a collection, period by period.
//   n_batches: how many were folded
// Cost: reads and writes one accumulator a period that has batches; puts go on meanwhile.
agg_err agg_store_fold(agg_store *store, uint64_t *n_batches, agg_error *error, int64_t collection,
                       const shoal_recipe *recipe, unsigned n_threads) SHOAL_MUST_CHECK;

// Sets how many bytes of records a fold groups by row at once, at most: AGG_STORE_FOLD_BYTES if not
// set. Before the first fold.
void agg_store_set_fold_bytes(agg_store *store, size_t bytes);

// Finds how many bytes the files of a collection's accumulators have, and the batches that wait.
agg_err agg_store_bytes(agg_store *store, uint64_t *files, uint64_t *waiting, agg_error *error,
                        int64_t collection) SHOAL_MUST_CHECK;

// Drops the distinct records that accumulators keep beside their sums (accumulator.h), of every
// folded period that ended recipe->keep_days days before `today` or earlier; a period that never
// closes ends with the recipe. The sums stay. Does nothing for recipes whose records are not kept.
//   n_periods: how many lost theirs
//   today: its day is not over
// Cost: opens each accumulator of an ended period; reads and writes those that keep records.
agg_err agg_store_forget(agg_store *store, uint64_t *n_periods, agg_error *error,
                         int64_t collection, const shoal_recipe *recipe,
                         int32_t today) SHOAL_MUST_CHECK;

// Releases what may be loaded of a recipe of aggregation "sum", for good; does nothing for others.
//   n_records: how many more may be loaded now
//   today: periods that end before this day are closed
agg_err agg_store_release(agg_store *store, uint64_t *n_records, agg_error *error,
                          int64_t collection, const shoal_recipe *recipe,
                          int32_t today) SHOAL_MUST_CHECK;

// Sums the folded periods within a span; of a recipe of aggregation "sum" the released blocks.
// Release `acc` on OK.
//   acc: empty (n = 0) when nothing lies within
// Returns: SHOAL_ERR_RANGE when a stored period or block lies across the span's edge.
agg_err agg_store_load(agg_store *store, agg_accumulator *acc, agg_error *error, int64_t collection,
                       const shoal_recipe *recipe, agg_span span) SHOAL_MUST_CHECK;

// A number that changes whenever a fold or a release changes what agg_store_load gives for the
// collection.
agg_err agg_store_stamp(agg_store *store, uint64_t *stamp, agg_error *error,
                        int64_t collection) SHOAL_MUST_CHECK;

agg_err agg_store_statistics(agg_store *store, agg_store_stats *stats, agg_error *error,
                             int64_t collection) SHOAL_MUST_CHECK;

#endif
