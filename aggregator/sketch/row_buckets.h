// SPDX-License-Identifier: Apache-2.0
// Radix buckets: records partitioned by ranges of rows as they arrive, so that each row gets many
// records before its counts are read and written. Private to sketch/.
//
// A bucket's records are as large as a core's second-level cache. Each worker has a part of every
// bucket to itself, so appending takes no lock. Records leave the caches as whole lines: at once
// where their bits fill lines, else through a write-combining buffer for each part.
#ifndef ROW_BUCKETS_H
#define ROW_BUCKETS_H

#include "fold_plan.h"
#include "row_fold.h"

typedef struct agg_row_buckets {
    agg_bucket_plan plan;
    agg_row_range rows; // all rows of the sketch
    size_t record_size;
    unsigned n_workers;
    uint8_t *memory, *records; // `records` is the first cache line of `memory`
    uint8_t *row_numbers; // plan.has_rows_apart: 4 bytes a record, in the records' order; else NULL
    uint8_t *combining;   // plan.is_combined: 2 * AGG_COMBINE_BYTES a part; else NULL
    uint32_t *used;       // records in each part: of worker 0's plan.n parts, then of worker 1's
    uint32_t *scratch;    // plan.scratch_len numbers for each of n_threads
    uint32_t fullest;     // records of the fullest part at the last agg_row_buckets_is_due
} agg_row_buckets;

// Memory: plan->buffer_bytes and agg_fold_plan_beside(plan). On error nothing is left to release.
//   rows: all rows of the sketch, without counters
agg_err agg_row_buckets_init(agg_row_buckets *buckets, agg_error *error, const agg_fold_plan *plan,
                             const agg_row_range *rows) SHOAL_MUST_CHECK;
void agg_row_buckets_release(agg_row_buckets *buckets);

// Appends records to a worker's parts, and folds each part that becomes full.
//   locks: AGG_ROW_LOCKS of them, where other workers append at the same time; else NULL
void agg_row_buckets_append(agg_row_buckets *buckets, unsigned worker, agg_lock *locks,
                            const uint8_t *records, uint32_t count);

// Returns: records in a bucket, those of all workers.
uint32_t agg_row_buckets_used(const agg_row_buckets *buckets, uint32_t bucket);

// Adds a bucket's records to its rows' counts and empties it. Workers must not append meanwhile;
// other threads may fold other buckets.
//   thread: whose scratch this takes, below plan->n_threads
void agg_row_buckets_fold(agg_row_buckets *buckets, uint32_t bucket, unsigned thread);

// Returns: whether some part would be full before the next call, if it grows as it did since the
// last. Call between workers' turns. Buckets that are folded then give each row more records than
// parts that workers fold alone.
bool agg_row_buckets_is_due(agg_row_buckets *buckets);

#endif
