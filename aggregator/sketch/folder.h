// SPDX-License-Identifier: Apache-2.0
// Collects runs of records, so that an accumulator is given as many at a time as make adding fast.
//
// What that takes follows from the sketch. Records that are bits of a row, alone in their
// accumulator, go one of three ways:
//
//   few rows       records are folded where they lie, or from a buffer that the cache holds: a row
//   gets many of them at a time more           the same, but a row's counts wait in planes
//   (row_fold.h), a quarter of their size, which the cache holds where it would not hold
//                  the counts. Where they fit, each thread has planes of its own, and a share of
//                  the records instead of the rows
//   most           records are laid out by row as they come: each range of rows has an area of the
//   buffer, as large as a core's cache, and the
//                  buffer is so large that a row gets about 32 records before its area is full and
//                  is folded. Each thread has a part of every area to itself, and the parts of an
//                  area are folded together, when threads have come together
//
// All others are kept in the order they came. Results do not depend on any of it.
//
// What a thread has to itself is a lane. Where there are several, threads may add records at the
// same time, each on its own.
#ifndef FOLDER_H
#define FOLDER_H

#include "accumulator.h"
#include "row_fold.h"

// Records by ranges of rows.
typedef struct agg_areas {
    uint32_t n, cap,
        row_shift; // a row's area is row >> row_shift; each holds `cap` records. n is 0 where there
                   // are none
    uint32_t lane_cap; // records of a lane's part of an area; the parts lie one behind the other
    size_t bytes;      // from one area to the next
    size_t stride;    // from one record to the next: of its bits alone, where they fill cache lines
    uint8_t *rows;    // then, the rows of each area's records, 4 bytes each; else NULL, and records
                      // begin with their rows
    uint32_t *used;   // records in each, of a lane's n areas, of the next lane's
    uint8_t *ends;    // the last bytes of each, which are still on their way into it
    uint32_t fullest; // records of the fullest part when threads came together last
    uint32_t *scratch; // of row_fold.h: scratch_len numbers a thread
    size_t scratch_len;
} agg_areas;

typedef struct agg_folder {
    agg_accumulator *acc;
    uint8_t *buffer, *aligned; // where it begins a cache line
    uint32_t count, cap;       // records in the buffer; records that fit
    uint64_t waiting;          // records that were taken into planes or areas since the last flush
    unsigned n_threads;
    uint8_t *planes, *kept; // as in row_fold.h, of all rows, of each lane; NULL where none wait
    unsigned n_lanes; // threads with planes, or parts of the areas, of their own; 1: all share one
                      // lane's, by row
    unsigned turn;    // the lane of the next records that are too few to share
    unsigned n_locks; // that are to be released
    agg_lock locks[AGG_ROW_LOCKS];
    agg_lock guard; // of `waiting`, and of what threads take one after another
    uint64_t lane_count[AGG_THREADS_MAX]; // records that came to a lane's planes
    uint32_t *lane_scratch; // of row_fold.h, for `cap` records, of each lane; NULL where there is
                            // one lane
    agg_areas areas;
} agg_folder;

// Bytes that a folder takes: for the buffer, at least one record, and at most beside it while it
// adds.
typedef struct agg_folder_memory {
    uint64_t buffer, beside;
} agg_folder_memory;

// Finds what a folder of this accumulator would take.
//   bytes: as for agg_folder_init
agg_folder_memory agg_folder_memory_of(const agg_accumulator *acc, size_t bytes,
                                       unsigned n_threads);

// Memory: as agg_folder_memory_of says, touched as records come.
//   bytes: the most that the buffer may take; 0: what makes adding fast, 256 MiB at most. Less is
//   slower where a sketch has many rows: each
//          row's counts are read and written for fewer records
agg_err agg_folder_init(agg_folder *folder, agg_error *error, agg_accumulator *acc, size_t bytes,
                        unsigned n_threads) SHOAL_MUST_CHECK;

// Records that lie together.
typedef struct agg_folder_run {
    const uint8_t *records;
    uint32_t count;
} agg_folder_run;

// Takes records as agg_accumulator_add does, and adds them when there are enough. Errors may be of
// records that came earlier. Threads share a call of half a MiB of records or more.
agg_err agg_folder_add(agg_folder *folder, agg_error *error, const uint8_t *records,
                       uint32_t count) SHOAL_MUST_CHECK;

// The same for several runs: threads share them as if they were one.
//   n_runs: 0 after records were added to lanes: what is best done when threads have come together
agg_err agg_folder_add_runs(agg_folder *folder, agg_error *error, const agg_folder_run *runs,
                            uint32_t n_runs) SHOAL_MUST_CHECK;

// Returns: the threads that may add records at the same time, each to its own lane; 1: none may.
static inline unsigned agg_folder_lanes(const agg_folder *folder)
{
    return folder->n_lanes;
}

// Returns: records after which such threads should come together, with agg_folder_add_runs: before
// areas are full, and seldom.
uint32_t agg_folder_span(const agg_folder *folder);

// Takes a run of records on the thread that calls, while others do the same with other lanes.
// Between this and any other function of the folder threads must have come together.
//   lane: below agg_folder_lanes(folder)
agg_err agg_folder_add_lane(agg_folder *folder, agg_error *error, unsigned lane,
                            const agg_folder_run *run) SHOAL_MUST_CHECK;

// Adds what is left: before this the accumulator is not to be used. The folder may be used on.
agg_err agg_folder_flush(agg_folder *folder, agg_error *error) SHOAL_MUST_CHECK;
void agg_folder_release(agg_folder *folder);

#endif
