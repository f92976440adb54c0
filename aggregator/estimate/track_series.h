// SPDX-License-Identifier: Apache-2.0
// A statistic over the epochs of a run: the global state of THRESH and HEAVYTHRESH (joseph-2018,
// Algorithm 1), from the recipes and accumulators of the epochs in their order. Pure.
//
// The reports of epoch t contain the votes about epoch t. If epoch t-1 was an update, they also
// contain the estimates of epoch t-1. So the value of an update is known with the reports of the
// next epoch, and the series keeps that value until the next update. The recipe of epoch t+1 says
// whether epoch t was an update, because devices went by it. If no recipe follows, the last epoch's
// votes decide.
//
// Before the first update a series of numbers has the middle of the range as its value, which is
// not an estimate and has no error; a series of items has no value. A device answers
// floor(epsilon/2b) updates. It answers later updates with noise, which is not published: the
// series is frozen.
//
// The interval is for the mean over the devices that answered the update; it assumes that they have
// many samples in that epoch, so that the normal law holds. No interval covers later changes: a
// change up to the lowest threshold is never seen, and one below the highest threshold is seen late
// (track_law.h).
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
    uint32_t of;          // epoch of the update that gave the value; 0 before the first update
    uint64_t n;           // reports
    double votes, needed; // share of yes among the reports, and the share that makes an update
    double value, stderr_, low,
        high;        // in the recipe's units; NaN if there is no value, and for items
    bool is_update;  // by the next recipe, or by the votes if there is none
    bool is_pending; // its estimates arrive with the next epoch's reports
    bool is_frozen;  // the epoch is after the last update that devices answer
} agg_track_row;

// The sums of an update.
typedef struct agg_track_update {
    uint32_t epoch;
    uint64_t n;    // reports with estimates
    double ones;   // share of ones among them, for a number
    int32_t *sums; // for items, one for each coordinate of the projection: the number of + less
                   // that of -; NULL for a number
} agg_track_update;

typedef struct agg_track {
    agg_recipe recipe; // of the first epoch
    char run_hex[65];  // recipe.run_hash
    agg_track_law law;
    double confidence;
    size_t n_rows, rows_cap;
    agg_track_row *rows; // epochs 1 .. n_rows
    size_t n_updates, updates_cap;
    agg_track_update *updates; // the answered updates, in order
    uint32_t n_called;         // all updates, answered or not
    uint64_t least, most;      // least and most reports of an epoch
    uint32_t n_other;   // epochs in which the next recipe and the votes disagree about the update
    uint32_t n_closing; // 1 after the closing reports of epoch T+1, which have no row
    uint8_t last_hash[32]; // query_hash of the last recipe
} agg_track;

// Initializes an empty series.
//   confidence: of intervals, in (0, 1)
void agg_track_init(agg_track *track, double confidence);
void agg_track_release(agg_track *track);

// Adds the next epoch.
//   name: the name of the epoch in errors
// Returns: AGG_ERR_USAGE for a recipe of another mechanism or run, for an epoch that is not the
// next, and for a recipe that does not follow the one before; SHOAL_ERR_RECIPE_HASH for records of
// another recipe; AGG_ERR_COHORT with exit code 3 below the minimum cohort or the release
// threshold. The series is then as it was.
agg_err agg_track_add(agg_track *track, agg_error *error, const char *name,
                      const agg_recipe *recipe, const agg_accumulator *acc) SHOAL_MUST_CHECK;

// Computes the values of all rows, after all epochs are added.
// Returns: AGG_ERR_USAGE for a series without an epoch.
agg_err agg_track_finish(agg_track *track, agg_error *error) SHOAL_MUST_CHECK;

// Returns: the number of updates that devices can still answer.
uint32_t agg_track_updates_left(const agg_track *track);

// Computes the root mean square error and the largest error of a series of numbers, over the epochs
// with a value.
//   truth: n_rows, by epoch, in the recipe's units
void agg_track_error(double *rms, double *largest, const agg_track *track, const double *truth);

#endif
