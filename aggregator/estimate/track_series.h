// SPDX-License-Identifier: Apache-2.0
// A statistic over the epochs of a run: the global state of THRESH and HEAVYTHRESH (joseph-2018,
// Algorithm 1), from the recipes and accumulators of its epochs in their order. Pure.
//
// Epoch t's reports hold the votes about epoch t and, where epoch t-1 was an update, the estimates
// of epoch t-1. So what an update measured is known with the reports of the next epoch; until the
// next update the series stays there. The recipe of epoch t+1 says whether epoch t was an update,
// since that is what devices went by; the last epoch's votes say it where no recipe follows. Before
// the first update a series of numbers stands at the middle of the range, which is no estimate and
// has no error; one of items has no value. A device answers floor(epsilon/2b) updates; what is
// asked of it afterwards is answered by noise, which is published as nothing: the series is frozen.
//
// Interval: of what the update measured, the mean over the devices that answered (their samples of
// that epoch are many), at the normal law. What changes later is in no interval: up to the lowest
// threshold it is never seen, and below the highest one not at once (track_law.h).
#ifndef TRACK_SERIES_H
#define TRACK_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "accumulator.h"
#include "recipe_json.h"
#include "track_law.h"

typedef struct agg_track_row {
    uint32_t epoch;
    uint32_t of;          // epoch of the update whose value stands; 0 before the first
    uint64_t n;           // reports
    double votes, needed; // share of yes among them, and from which share on it is an update
    double value, stderr_, low,
        high;        // in the recipe's units; NaN where there is none, and for items
    bool is_update;  // votes were enough, or the next recipe says so
    bool is_pending; // its estimates come with the next epoch's reports: no value yet
    bool is_frozen;  // it came after the last update that devices answer
} agg_track_row;

// What an update measured.
typedef struct agg_track_update {
    uint32_t epoch;
    uint64_t n;  // reports that hold estimates
    double ones; // share of 1 among them, of a number
    int32_t
        *sums; // of items: reports of + less those of -, by coordinate of the projection; else NULL
} agg_track_update;

typedef struct agg_track {
    agg_recipe recipe; // of the first epoch
    char run_hex[65];  // recipe.run_hash
    agg_track_law law;
    double confidence;
    size_t n_rows, rows_cap;
    agg_track_row *rows; // epochs 1 .. n_rows
    size_t n_updates, updates_cap;
    agg_track_update *updates; // that devices answered, in order
    uint32_t n_called;         // updates called, answered or not
    uint64_t least, most;      // reports of an epoch
    uint32_t n_other; // epochs whose recipe called an update against their votes, or none with them
    uint32_t n_closing;    // 1: the closing reports of epoch T+1 are in; they are no row
    uint8_t last_hash[32]; // query_hash of the last recipe
} agg_track;

// Starts an empty series.
//   confidence: of intervals, in (0, 1)
void agg_track_init(agg_track *track, double confidence);
void agg_track_release(agg_track *track);

// Adds the next epoch.
//   name: what errors call it
// Returns: AGG_ERR_USAGE for a recipe of another mechanism, another run, an epoch that is not the
// next, a recipe that does not follow the
//   one before; SHOAL_ERR_RECIPE_HASH for records of another recipe; AGG_ERR_COHORT with exit code
//   3 below the minimum cohort or the release threshold. The series is then as it was.
agg_err agg_track_add(agg_track *track, agg_error *error, const char *name,
                      const agg_recipe *recipe, const agg_accumulator *acc) SHOAL_MUST_CHECK;

// Fills the values of all rows, once every epoch is added.
// Returns: AGG_ERR_USAGE where there is none.
agg_err agg_track_finish(agg_track *track, agg_error *error) SHOAL_MUST_CHECK;

// Returns: updates that devices have not answered yet.
uint32_t agg_track_updates_left(const agg_track *track);

// Root mean square and largest distance of a series of numbers from the truth, over the epochs that
// have a value.
//   truth: by epoch, n_rows of them, in the recipe's units
void agg_track_error(double *rms, double *largest, const agg_track *track, const double *truth);

#endif
