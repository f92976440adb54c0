// SPDX-License-Identifier: Apache-2.0
// Which values changed over several periods of one question, when, and by how much. Pure: no files,
// no clock.
//
// Each period is an accumulator of one recipe, or of a recipe of its own with the same mechanism
// and parameters. Every value is tested at every split of its series (series_scan.h). Its p is a
// bound on the chance of such a score without a change (split_tail.h). `detected` holds for all
// values together: under `bh`, the default, the expected share of unchanged values among the
// detected is at most 1 - confidence (Benjamini and Hochberg 1995).
//
// A detected row has the date of its change, as an interval that holds the true one with the
// confidence if there was one change; its shape; and the shares before and after the likeliest
// split. Rows and splits were picked from all by the same data, so the shares and their difference
// have false-coverage-rate intervals of R rows among n (T - 1) splits (selection.h). They are of
// the mean shares of the crowds of either side of that split, whatever happened within.
//
// Assumptions: no report is in two periods, coins are fresh in every report, and people who report
// in several periods are no more alike than others.
#ifndef CHANGES_H
#define CHANGES_H

#include <stdbool.h>

#include "estimate.h"
#include "series_scan.h"

#define AGG_CHANGES_PERIODS_MAX 1000u

typedef struct agg_changes_period {
    agg_text label; // hostile text
    const agg_recipe *recipe;
    const agg_accumulator *acc;
    const agg_dictionary *dictionary; // the same values in the same order in all periods, with the
                                      // items of the period's recipe
} agg_changes_period;

typedef struct agg_changes_options {
    double confidence;     // in (0, 1); 0 means 0.95
    agg_multiple multiple; // the rule of `detected`
    size_t top;            // rows to keep; 0 keeps all
    unsigned n_threads;    // 0 means 1
} agg_changes_options;

typedef enum agg_change_shape {
    AGG_CHANGE_NONE = 0, // not detected
    AGG_CHANGE_STEP,     // one step explains the series
    AGG_CHANGE_GRADUAL,  // no step does, and a straight line does
    AGG_CHANGE_SEVERAL   // neither does
} agg_change_shape;

typedef struct agg_changes_row {
    agg_text value;
    size_t index;  // in the dictionary
    double share;  // of the reports of all periods
    double score;  // of the likeliest split, standard deviations; above 0: rose
    double p;      // a bound; see split_tail.h
    bool detected; // what follows is for detected rows only
    size_t at;     // the first period after the likeliest split, 1 .. T - 1
    agg_split_dates dates;
    agg_change_shape shape;
    agg_level before, after, difference;  // of shares
    bool before_withheld, after_withheld; // below the release threshold: show neither the share
                                          // nor the difference
} agg_changes_row;

typedef struct agg_changes {
    const agg_changes_period *periods; // n_periods
    size_t n_periods;
    agg_shards_about shards; // of the manifests of all periods
    double confidence;
    agg_multiple multiple;
    size_t n_dictionary, n_withheld, n_detected, n_rows;
    bool is_shared;          // periods share hash rows
    agg_selection selection; // the detected rows, of all rows and splits
    agg_changes_row *rows;   // by rising p, then by falling |score|, then by value
    double *counts;          // n_dictionary series of n_periods + 1 sums (series_scan.h)
    agg_periods sums;
} agg_changes;

// Looks for changes.
//   changes: its rows point into the first period's dictionary; it and the periods must outlive it
//   n_periods: 2 .. AGG_CHANGES_PERIODS_MAX
// Returns: AGG_ERR_COHORT with exit code 3 if a period is below its recipe's minimum cohort;
// SHOAL_ERR_RECIPE_HASH; AGG_ERR_USAGE, naming the period, for one without reports, two that hold
// the same reports, recipes that differ, labels that are days or months and do not rise, means,
// runs over epochs and mechanisms with permanent answers; AGG_ERR_MEMORY.
// Privacy: post-processing. A row whose reports of all periods are below the release threshold is
// left out; a side below it has neither share nor difference.
agg_err agg_changes_run(agg_changes *changes, agg_error *error, const agg_changes_period *periods,
                        size_t n_periods, const agg_changes_options *options) SHOAL_MUST_CHECK;

// Returns: the bytes that agg_changes_run takes, not counting accumulators and dictionaries.
uint64_t agg_changes_memory(const agg_recipe *recipe, size_t n_values, size_t n_periods,
                            unsigned n_threads);

// Returns: "step", "gradual" or "several"; "" for AGG_CHANGE_NONE.
const char *agg_change_shape_name(agg_change_shape shape);

void agg_changes_release(agg_changes *changes);

#endif
