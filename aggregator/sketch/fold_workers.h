// SPDX-License-Identifier: Apache-2.0
// The workers of a folder: threads that add records at the same time, each to memory of its own,
// either carry-save counters or its parts of the radix buckets (fold_plan.h). Private to sketch/.
//
// Between the workers' turns stands a barrier, which the caller keeps: agg_parallel returns when
// all threads are done. What the workers own is joined there: full buckets are folded by all
// threads, and at the end the counters of all workers are added to the counts.
#ifndef FOLD_WORKERS_H
#define FOLD_WORKERS_H

#include "fold_plan.h"
#include "row_buckets.h"
#include "row_fold.h"

// Records that lie together.
typedef struct agg_folder_run {
    const uint8_t *records;
    uint32_t count;
} agg_folder_run;

typedef struct agg_fold_workers {
    agg_fold_plan plan;
    agg_row_range rows;            // all rows of the sketch, without counters
    unsigned next;                 // the worker that takes the next call too small to share
    uint8_t *counters;             // AGG_FOLD_COUNTERS: plan.counters_bytes a worker
    uint8_t *pending;              // records that wait in each row's counters, n_rows a worker
    uint32_t *scratch;             // agg_row_scratch numbers for plan.cap records, a worker
    uint64_t *n_added;             // records that each worker has taken
    agg_row_buckets buckets;       // AGG_FOLD_BUCKETS
    agg_lock locks[AGG_ROW_LOCKS]; // of rows that several workers add to
    agg_lock guard;                // of what threads take one after another
    unsigned n_locks;              // that are initialized, `guard` first
} agg_fold_workers;

// Memory: as agg_fold_plan_beside says. On error nothing is left to release.
//   plan: its method is not AGG_FOLD_IN_ORDER
//   sketch: kept by reference
agg_err agg_fold_workers_init(agg_fold_workers *workers, agg_error *error,
                              const agg_fold_plan *plan, agg_sketch *sketch) SHOAL_MUST_CHECK;
void agg_fold_workers_release(agg_fold_workers *workers);

// Adds runs of records: all workers share them as if they were one run, half a MiB or more; else
// one worker takes them.
void agg_fold_workers_add(agg_fold_workers *workers, const agg_folder_run *runs, uint32_t n_runs);

// Adds a run as one worker, on the calling thread, while other threads do so as other workers.
void agg_fold_workers_add_as(agg_fold_workers *workers, unsigned worker, const agg_folder_run *run);

// Adds everything that waits to the sketch's counts.
void agg_fold_workers_flush(agg_fold_workers *workers);

#endif
