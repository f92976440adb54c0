// SPDX-License-Identifier: Apache-2.0
// Looks for a change in the series of one value over periods, whose variances are known. Pure.
//
// Period t has n_t reports and an unbiased raw count x_t. A split of the periods first .. end - 1
// has two sides, each with the pooled share of its periods: the sum of x_t over the sum of n_t.
// That is the share of the merged reports, and for equal recipes the weights of least variance.
// The standardized difference of the two is standard normal if nothing changed. Its variance has
//
//     coins   base_t + slope f + curve f^2 of each period at f = n_t s, with s the pooled share of
//             all periods of the scan (estimator.h, without the pairs of hash collisions)
//     drawing D n_t s (1 - s): who happened to report (D: window_picks.h, else 1)
//     rows    what hash collisions leave: K sum of w_t w_u X_tu over periods t and u with the same
//             rows (shared_rows.h), w the weights of counts. Where values do not move, it is 0.
//
// A side's excess counts for no more than the binomial law says (support_score.h), as in compare.h,
// so that few reports that support a value by accident are no change.
//
// The date of a change: the splits that the data allow. A split s is allowed if neither the periods
// before it nor those after it show a change of their own: the largest score within the two parts
// has a chance above 1 - confidence by the bound of split_tail.h, summed over the two. If there was
// one change, its split is allowed with at least the confidence, whatever its size. If no split is
// allowed, then one step does not explain the series.
//
// Rows whose date is asked for were picked for a large score, so the test has two levels. A split
// whose own score would have picked the row is tested at 1 - confidence: its score says nothing
// about the parts, whose scores are independent of it, so that picking by it does no harm. Any
// other split may be the true one only if the row was picked for the luck of its neighbours; it is
// tested at the level by which rows were picked. At most that share of all rows misses in this way,
// which are at most 1 - confidence of the picked ones under `bh`, as in selection.h. (Worsley,
// "Confidence regions and tests for a change-point in a sequence of exponential family random
// variables", Biometrika 73, 1986, inverts tests in this way.)
#ifndef SERIES_SCAN_H
#define SERIES_SCAN_H

#include <stdbool.h>
#include <stddef.h>

// What holds for all values: n periods, and sums over the periods before each, n + 1 of each.
typedef struct agg_periods {
    size_t n;
    double *reports;   // n_t, summed
    double *squares;   // n_t^2, summed
    double *coins;     // base_t, summed, in reports^2; zeros if variances come with the counts
    double *collision; // (n + 1)^2: K X_tu, summed over the rectangle before (t, u); NULL: none
    double slope, curve;
    double design;          // D
    bool has_support;       // the estimate is scale * support + offset with a binomial law
    double scale, expected; // expected: of supports, for each report of other values
} agg_periods;

// The series of one value: sums over the periods before each, n + 1 of each.
typedef struct agg_series {
    const agg_periods *periods;
    double *counts;    // x_t, summed
    double *variances; // of x_t, summed; NULL if the periods have the law
} agg_series;

typedef struct agg_split_best {
    size_t at;    // the first period of the second side; 0 without a split
    double score; // signed, of the largest size
} agg_split_best;

// The periods between which a value changed.
typedef struct agg_split_dates {
    size_t n;           // splits that are allowed; 0: no single step explains the series
    size_t first, last; // of them; the first period of the second side
} agg_split_dates;

// One share with its variance.
typedef struct agg_level {
    double share, variance;
} agg_level;

// Returns: the pooled share of the periods first .. end - 1, clamped to [0, 1].
double agg_series_share(const agg_series *series, size_t first, size_t end);

// Finds the split with the largest score.
agg_split_best agg_series_scan(const agg_series *series, size_t first, size_t end);

// Returns: a bound on the chance that a series without a change has a score of this size; at most
// 1. If `give_up` is reached, which cannot be undone, a looser bound is returned.
double agg_series_tail(const agg_series *series, size_t first, size_t end, double score,
                       double give_up);

// Finds the dates of a change.
//   level: 1 - confidence, in (0, 1)
//   picked: the bound of a score below which rows were picked, at most `level`
agg_split_dates agg_series_dates(const agg_series *series, double level, double picked);

// Computes the share of either side of a split, and their difference, after less before.
void agg_series_levels(agg_level *before, agg_level *after, agg_level *difference,
                       const agg_series *series, size_t at);

// Returns: the chance that a series on a straight line scatters this much around it; 1 for fewer
// than 3 periods.
double agg_series_line_fit(const agg_series *series);

#endif
