// SPDX-License-Identifier: Apache-2.0
// Exact intervals of counts whose supports are few, in place of normal ones. Pure.
//
// If f of n devices hold a value, each report of theirs supports it with probability p, and every
// other report with probability q. Then its support C is a sum of two binomial numbers:
//
//     C = Bin(f, p) + Bin(n - f, q),     count = (C - n q)/(p - q)
//
// The interval holds every whole f for which neither P_f(C >= c) nor P_f(C <= c) is below half the
// level. It misses the true f with a chance of at most the level, for every n, p, q and f. It is
// the interval of Clopper and Pearson (Biometrika 26, 1934) for this law. A normal interval keeps
// its level only where the variance of C is large.
//
// Below 0 and above n, where no crowd has its count, the law goes on as Bin(n, q + (p - q) f/n). So
// an interval lies around its count as a normal one does, and a count far below zero has one too.
//
// Reports that share rows of a sketch make the variance of C larger than this law's. Then both
// sides of the interval are longer by the root of the ratio of the two variances.
#ifndef SMALL_COUNTS_H
#define SMALL_COUNTS_H

#include <stdbool.h>
#include <stddef.h>

#include "agg_error.h"

// Supports of a larger variance get normal intervals.
#define AGG_SMALL_VARIANCE 100.0

// The law of the support of one value.
typedef struct agg_support_law {
    double n;       // reports, whole
    double p, q;    // 0 <= q < p <= 1
    double stretch; // ratio of the standard errors, 1 or more
} agg_support_law;

// Returns: P_f(C >= c) if is_upper, else P_f(C <= c), within 1e-17 where it is small.
//   f: whole; clamped to where the law has probabilities
//   c: whole, 0 .. n
double agg_support_tail(const agg_support_law *law, double f, double c, bool is_upper);

// Returns: the variance of C, f being clamped to 0 .. n.
double agg_support_variance(const agg_support_law *law, double f);

// Computes the exact interval of a support.
//   low, high: around the count; whole if stretch is 1
//   c: whole, 0 .. n
//   level: the chance of a miss, in (0, 1)
// Cost: some 20 tails, each of some 50 terms for each unit of C's standard deviation.
void agg_exact_interval(double *low, double *high, const agg_support_law *law, double c,
                        double level);

// Intervals of one level for all rows of a result: normal where there is no law or the variance is
// large, else exact. Each support's exact interval is computed once.
typedef struct agg_intervals {
    const agg_support_law *law; // NULL: all are normal
    double level, quantile;     // of the normal law, at half the level
    struct agg_interval_ends {
        double low, high; // low > high: not computed yet
    } * known;
    size_t n_known;
} agg_intervals;

// Returns: AGG_ERR_MEMORY.
//   law: must outlive the intervals; may be NULL
agg_err agg_intervals_init(agg_intervals *intervals, agg_error *error, const agg_support_law *law,
                           double level) SHOAL_MUST_CHECK;

// Computes the interval of a row.
//   count: of the law, unbiased
//   added: variance of the count that comes on top of the law's, 0 or more
//   stderr_: of the count, with what is added
void agg_intervals_of(double *low, double *high, const agg_intervals *intervals, double count,
                      double added, double stderr_);

// Returns: a bound that no upper end of a row passes whose count is not above `count`.
//   most: the largest standard error of such a row
double agg_intervals_highest(const agg_intervals *intervals, double count, double added,
                             double most);

void agg_intervals_release(agg_intervals *intervals);

#endif
