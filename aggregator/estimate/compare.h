// SPDX-License-Identifier: Apache-2.0
// Compares two collections or two periods: differences of shares or counts, with standard errors,
// intervals and a test. Pure: no files, no clock.
//
// Let x_a and x_b be the raw counts of a value in reports, n_a and n_b the reports of the two
// accumulators, and V(f) the mechanism's variance of a count whose true value is f (estimator.h).
//
//     difference   of shares  d = x_b/n_b - x_a/n_a      variance  V_a/n_a^2 + V_b/n_b^2
//                  of counts  d = x_b - x_a              variance  V_a + V_b
//
// The interval d -+ z sd covers the difference between the true counts or shares of the two sets of
// reports. It assumes independent coins, so that the variances add, and an n large enough for the
// normal law. A side whose reports answer for windows adds the variance of its picks to V, and the
// design effect of its slots to the second term of z (window_picks.h). The interval is then about
// the two crowds.
//
// The test asks whether the two sets could come from one population that did not change. Then
// x_a/n_a and x_b/n_b differ by the coins and by who happened to report. A row's z is d over its
// standard deviation in that case, at the pooled share s:
//
//     of shares  V_a(n_a s)/n_a^2 + V_b(n_b s)/n_b^2 + s(1-s)(1/n_a + 1/n_b)
//     of counts  V_a(s) + V_b(s) + 2s, where s is the pooled count and 2s the variance of two
//                Poisson variables
//
// s weights the two sides by the inverse of their variance at zero, and is clamped to the range of
// a share or count. A mechanism that states no V (one that gives `counts`, estimator.h) enters with
// the variance of its own estimate. Two means are subtracted in the recipe's unit; their variance
// already contains the drawing of people from a population. If few reports support a value by
// accident, an excess counts for no more than the binomial law's upper tail says
// (support_score.h).
//
// The test is two-sided, and `detected` holds for all rows together. Under `bonferroni` the chance
// that any unchanged value is detected is at most 1 - confidence. Under `bh` that bound holds for
// the expected share of unchanged values among the detected (Benjamini and Hochberg 1995, without
// the estimate of multiple.h). Under `none` each row is tested alone.
//
// Assumption: no report is in both accumulators. Identical accumulators are refused, unless they
// have a single cell, which may agree by chance. An overlap, such as a day and its week, cannot be
// detected. Two sides with the same hash rows (one seed) have the same collisions, most of which
// cancel; the variance then has what is left of them (shared_rows.h).
//
// Devices that report on both sides under the same permanent answers (rappor, loloha) repeat the
// noise of a value that they kept. Most of it cancels in a difference, so that the stated error is
// too large. Of loloha, a device that moved from one value to another makes the counts of third
// values go against one another where rows are few (loloha_law.h). Nobody can see how many devices
// did, so the variance is that of the worst case, in which all of the smaller side did:
//
//     + 2 u_a u_b min(n_a, n_b) |least covariance|     u: 1/n for shares, 1 for counts
//
// So the stated error is never too small. It is at most 22 % above that of independent answers, and
// exactly that wherever shared coins outweigh shared rows: with g = 2, up to an epsilon_permanent
// of 1.57 for 3 rows, 2.52 for 7 and 3.34 for 15.
#ifndef COMPARE_H
#define COMPARE_H

#include <stdbool.h>

#include "estimate.h"

typedef enum agg_compare_of {
    AGG_COMPARE_SHARES = 0,
    AGG_COMPARE_COUNTS,
    AGG_COMPARE_MEANS
} agg_compare_of;

typedef struct agg_compare_side {
    const agg_recipe *recipe;
    const agg_accumulator *acc;
    const agg_dictionary *dictionary; // the same values in the same order on both sides, with the
                                      // items of the side's recipe
} agg_compare_side;

typedef struct agg_compare_options {
    agg_compare_of of;     // shares or counts; ignored for means
    double confidence;     // in (0, 1); 0 means 0.95
    agg_multiple multiple; // the rule of `detected`
    size_t top;            // rows to keep; 0 keeps all
    unsigned n_threads;    // 0 means 1
} agg_compare_options;

typedef struct agg_compare_row {
    agg_text value;
    double a, b;                 // raw shares or counts
    bool a_withheld, b_withheld; // the side's count is below its release threshold: show neither
                                 // the count nor the difference
    double difference, stderr_, low, high;
    double fcr_low, fcr_high; // of the difference of a selected row (selection.h)
    double z;                 // the difference over its standard deviation if nothing changed
    bool detected;
    double score; // decides `detected`: z, or less if the normal law is too confident with few
                  // reports
} agg_compare_row;

typedef struct agg_compare {
    const agg_recipe *recipe_a, *recipe_b;
    uint64_t n_a, n_b;                   // reports
    agg_shards_about shards_a, shards_b; // of the manifests that the accumulators count
    agg_compare_of of;
    bool repeats; // devices give the same permanent answers on both sides
    double confidence;
    agg_multiple multiple;
    size_t n_dictionary; // values in the dictionary
    size_t n_withheld;   // rows below the release threshold on both sides, not in `rows`
    size_t n_rows;
    agg_selection selection;                 // the rows shown and detected, of all; zeros for means
    agg_compare_row *rows;                   // by falling |z|, then by value
    const struct agg_guarantee *guarantee_a; // as in agg_estimate: both set, or both NULL
    const struct agg_guarantee *guarantee_b;
} agg_compare;

// Compares two accumulators value by value.
//   compare: its rows point into a->dictionary, which must outlive it
// Returns: AGG_ERR_COHORT with exit code 3 if either side is below its recipe's minimum cohort;
// SHOAL_ERR_RECIPE_HASH; AGG_ERR_USAGE if the two accumulators contain the same reports, or if the
// recipes differ in send.pick or send.window.
// Privacy: post-processing. If one side of a value is withheld, the other side's number and
// `detected` may be shown, but not the difference, from which the withheld count would follow.
agg_err agg_compare_run(agg_compare *compare, agg_error *error, const agg_compare_side *a,
                        const agg_compare_side *b,
                        const agg_compare_options *options) SHOAL_MUST_CHECK;

// Returns: the bytes that agg_compare_run takes at its peak, not counting the accumulators and the
// dictionaries.
//   n_values: values in each dictionary
uint64_t agg_compare_memory(const agg_recipe *a, const agg_recipe *b, size_t n_values,
                            unsigned n_threads);

void agg_compare_release(agg_compare *compare);

// Returns: whether a device gives the same permanent answers under both parts.
bool agg_compare_repeats(const shoal_part *a, const shoal_part *b);

#endif
