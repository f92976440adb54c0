// SPDX-License-Identifier: Apache-2.0
// Adjusted estimates of counts: what is to be expected of a row's true count once it is known how
// many rows of each size there are. Pure.
//
// A row is on top for its true count or for its luck, and of small counts there are more than of
// large ones. If G is the distribution of true counts over all rows, and the law of the noise is
// known, then the posterior law of a row given its raw count x,
//
//     P(f | x) ~ P(x | f) dG(f)
//
// holds for the rows on average whatever picks them by x: its mean has no bias, and its interval
// covers the share that it says. G is estimated from all raw counts of the result (empirical
// Bayes, Robbins 1956), as a smooth distribution (smooth_prior.h) with an atom at 0.
//
// Far above the noise, where rows are few and the noise moves none of them past its neighbours,
// rows keep the raw count and its interval.
//
// There is no adjustment if fewer than 20 rows are detected, because G cannot be told from so
// little; if the fitted G does not fit the raw counts; or if errors differ between rows of one
// count. Rows below a release threshold enter by their number only, which is printed anyway.
#ifndef ADJUST_H
#define ADJUST_H

#include <stdbool.h>
#include <stddef.h>

#include "agg_error.h"
#include "small_counts.h"

#define AGG_ADJUST_LEAST 20u // detected rows

typedef enum agg_adjust_state {
    AGG_ADJUST_NONE = 0, // not asked for: a mean
    AGG_ADJUST_FITTED,
    AGG_ADJUST_FEW,    // too few rows are detected
    AGG_ADJUST_MISFIT, // the fitted distribution is not that of the raw counts
    AGG_ADJUST_UNLIKE, // errors of rows with one count differ
    AGG_ADJUST_POST,   // post-processing decides which rows are withheld
    AGG_ADJUST_SPLIT   // other reports picked the rows, so nothing needs adjusting
} agg_adjust_state;

// The rows of a result.
typedef struct agg_adjust_rows {
    size_t n;              // rows with figures
    const double *counts;  // n, raw
    const double *stderrs; // n
    size_t n_detected;     // of them
    size_t n_hidden;       // rows below the threshold
    double threshold;      // 0: none are hidden
    double n_reports;
    const agg_support_law *law; // of supports; NULL: the noise is normal
    double confidence;
} agg_adjust_rows;

// Figures of one row. All are NAN where there are none.
typedef struct agg_adjusted {
    double mean, low, high; // reports
} agg_adjusted;

typedef struct agg_adjustment {
    agg_adjust_state state;
    double p;       // of the fit
    size_t n_known; // of the tables
    double *at;     // n_known rising raw counts
    agg_adjusted *known;
    double first, last; // raw counts between which rows are adjusted; above they keep their figures
} agg_adjustment;

// Fits the distribution of true counts.
//   adjustment: to be released on OK
// Returns: AGG_ERR_MEMORY.
agg_err agg_adjust_fit(agg_adjustment *adjustment, agg_error *error,
                       const agg_adjust_rows *rows) SHOAL_MUST_CHECK;

// Returns: the adjusted figures of a row.
//   count, low, high: raw, with its interval
agg_adjusted agg_adjust_row(const agg_adjustment *adjustment, double count, double low,
                            double high);

// Returns: a sentence about the adjustment, without a full stop.
const char *agg_adjust_note(agg_adjust_state state);

// Returns: a word for JSON, such as "fitted".
const char *agg_adjust_name(agg_adjust_state state);

void agg_adjust_release(agg_adjustment *adjustment);

#endif
