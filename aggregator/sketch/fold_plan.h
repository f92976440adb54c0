// SPDX-License-Identifier: Apache-2.0
// The plan of a folder: how it keeps records until it adds them, and what that takes. The plan
// follows from the sketch's shape, the memory allowed and the number of threads. Private to
// sketch/.
//
// folder.h describes the three methods and when each is the fastest.
#ifndef FOLD_PLAN_H
#define FOLD_PLAN_H

#include <stdbool.h>

#include "accumulator.h"

#define AGG_COMBINE_BYTES 512u // bytes that a write-combining buffer sends to memory at once

typedef enum agg_fold_method {
    AGG_FOLD_IN_ORDER, // one buffer, in the order of arrival
    AGG_FOLD_COUNTERS, // the same buffer; counts wait in carry-save counters, which stay in cache
    AGG_FOLD_BUCKETS   // radix buckets by row
} agg_fold_method;

// The shape of the radix buckets. Each bucket is cut into one part per worker; the parts lie one
// behind the other.
typedef struct agg_bucket_plan {
    uint32_t n;          // buckets
    uint32_t row_shift;  // a record's bucket is its row >> row_shift
    uint32_t cap;        // records that a bucket holds
    uint32_t worker_cap; // records that one worker's part of a bucket holds
    size_t bytes;        // from one bucket to the next
    size_t stride;       // from one record to the next
    size_t scratch_len;  // agg_row_scratch of a full bucket
    // Bits that fill whole cache lines lie alone, so that each record is written to its lines at
    // once; the rows then lie in an array beside them.
    bool has_rows_apart;
    bool is_combined; // records go through write-combining buffers: they are no whole lines
} agg_bucket_plan;

typedef struct agg_fold_plan {
    agg_fold_method method;
    unsigned n_threads;
    unsigned n_workers;    // threads that may add at the same time, each to memory of its own
    size_t record_size;    // bytes
    uint32_t cap;          // records in the buffer, or in all buckets
    size_t buffer_bytes;   // of the buffer, or of all buckets
    size_t counters_bytes; // AGG_FOLD_COUNTERS: one worker's carry-save counters of all rows
    agg_bucket_plan buckets;
} agg_fold_plan;

// Returns: the plan for an accumulator.
//   bytes: the most that the buffer may take; 0: as much as makes adding fast
agg_fold_plan agg_fold_plan_make(const agg_accumulator *acc, size_t bytes, unsigned n_threads);

// Returns: the most bytes that a folder of this plan takes beside its buffer.
uint64_t agg_fold_plan_beside(const agg_fold_plan *plan, const agg_accumulator *acc);

#endif
