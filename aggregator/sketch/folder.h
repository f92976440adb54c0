// SPDX-License-Identifier: Apache-2.0
// A folder collects records, so that an accumulator is given as many at a time as make adding fast.
//
// Which of three methods it takes follows from the sketch (fold_plan.h):
//
//   in order   records wait in one buffer, or are folded where they lie. For sketches of few rows,
//              where each row gets many records of a piece that the cache holds, and for records
//              that are not bits of rows.
//   counters   the same buffer, but a row's counts wait in carry-save counters (row_fold.h). They
//              are a quarter of the counts' size, so the cache holds them where it would not hold
//              the counts.
//   buckets    for most rows: records are partitioned by row into radix buckets (row_buckets.h).
//              Together they are so large that a row gets about 32 records before it is folded.
//
// With counters and with buckets several workers may add records at the same time, each to memory
// of its own (fold_workers.h). The result depends on none of this: sums of integers commute.
#ifndef FOLDER_H
#define FOLDER_H

#include "accumulator.h"
#include "fold_plan.h"
#include "fold_workers.h"

typedef struct agg_folder {
    agg_accumulator *acc;
    agg_fold_plan plan;
    uint8_t *buffer;          // in order, and with counters
    uint32_t count;           // records in the buffer
    uint64_t pending;         // records that workers have taken since the last flush
    agg_fold_workers workers; // with counters or buckets
} agg_folder;

// Bytes that a folder takes: its buffer, at least one record, and at most `beside` besides.
typedef struct agg_folder_memory {
    uint64_t buffer, beside;
} agg_folder_memory;

// Returns: what a folder of this accumulator would take.
//   bytes: as for agg_folder_init
agg_folder_memory agg_folder_memory_of(const agg_accumulator *acc, size_t bytes,
                                       unsigned n_threads);

// Memory: as agg_folder_memory_of says; its pages are touched as records come. On error nothing is
// left to release.
//   acc: kept by reference
//   bytes: the most that the buffer may take; 0: as much as makes adding fast, 256 MiB at most.
//          With less a sketch of many rows is slower: each row's counts are read and written for
//          fewer records
agg_err agg_folder_init(agg_folder *folder, agg_error *error, agg_accumulator *acc, size_t bytes,
                        unsigned n_threads) SHOAL_MUST_CHECK;

// Takes records as agg_accumulator_add does, and adds them when there are enough. An error may
// concern records of an earlier call. Threads share a call of half a MiB of records or more.
agg_err agg_folder_add(agg_folder *folder, agg_error *error, const uint8_t *records,
                       uint32_t count) SHOAL_MUST_CHECK;

// Takes several runs, which threads share as if they were one.
//   n_runs: 0 where the workers have just met at a barrier: buckets that are nearly full are folded
agg_err agg_folder_add_runs(agg_folder *folder, agg_error *error, const agg_folder_run *runs,
                            uint32_t n_runs) SHOAL_MUST_CHECK;

// Returns: the workers that may add records at the same time; 1: none may.
static inline unsigned agg_folder_workers(const agg_folder *folder)
{
    return folder->plan.n_workers;
}

// Returns: the number of records after which workers should meet at a barrier and
// agg_folder_add_runs be called: before buckets are full, and seldom.
uint32_t agg_folder_span(const agg_folder *folder);

// Takes a run of records as one worker, on the calling thread, while other threads do so as other
// workers. A barrier has to separate this from any other function of the folder.
//   worker: below agg_folder_workers(folder), which is at least 2
agg_err agg_folder_add_as(agg_folder *folder, agg_error *error, unsigned worker,
                          const agg_folder_run *run) SHOAL_MUST_CHECK;

// Adds everything that waits; before this call the accumulator must not be used. The folder may be
// used on.
agg_err agg_folder_flush(agg_folder *folder, agg_error *error) SHOAL_MUST_CHECK;
void agg_folder_release(agg_folder *folder);

#endif
