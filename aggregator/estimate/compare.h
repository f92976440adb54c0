// SPDX-License-Identifier: Apache-2.0
// What changed between two collections or two periods: differences of shares or counts, with
// errors, intervals and a test.
//
// With x_a, x_b the raw counts of a value and n_a, n_b the reports of the two accumulators, V(f)
// the variance of a count whose true value is f (each mechanism's own, estimator.h):
//
//     difference   of shares  d = x_b/n_b - x_a/n_a      variance  V_a/n_a^2 + V_b/n_b^2
//                  of counts  d = x_b - x_a              variance  V_a + V_b
//
// Both say what the reports hold, as estimates do: independent coins, so that the variances add,
// and the interval d -+ z sd covers the difference between what the two sets of reports hold.
//
// The test asks more: could the two be reports of one crowd that did not change? Then x_a/n_a and
// x_b/n_b differ by the coins and by who happened to report. So a row's z is d over its standard
// deviation in that case, at the pooled share s:
//
//     of shares  V_a(n_a s)/n_a^2 + V_b(n_b s)/n_b^2 + s(1-s)(1/n_a + 1/n_b)
//     of counts  V_a(s) + V_b(s) + 2s, s the pooled count: as many reports of the value, give or
//     take a Poisson variable's noise
//
// s weights the two sides by the inverse of their variance at zero and is clamped to what a share
// or count can be. Mechanisms that state no V (estimator.h: those that give `counts`) enter with
// the variance of their own estimate. The test is two-sided. Two means are subtracted in the
// recipe's unit; their stated variance already has the bits of a crowd that is drawn at random.
// Where a side has few reports that support a value by accident, more of them than expected count
// for no more than the binomial law's upper tail says (estimator.h), in its part of z. `detected`
// holds for all rows together: under `bonferroni` the chance that any value that did not change is
// called changed is at most 1 - confidence, under `bh` the expected share of such values among the
// detected (Benjamini and Hochberg 1995 as it stands, without the estimate of multiple.h), under
// `none` each row is tested alone.
//
// Assumed: no report is in both accumulators. Identical ones are refused (but a single cell may
// agree by chance); overlap (a day and its week) cannot be seen. Two things may make the errors go
// together, and the stated one too large, never too small: the hash functions that two periods of
// one sketch share (their collisions partly cancel; little where k is large), and permanent
// randomness (rappor) of devices that report on both sides. Pure: no files, no clock.
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
    const agg_dictionary *dictionary; // the same values in the same order on both sides; items
                                      // under the side's recipe
} agg_compare_side;

typedef struct agg_compare_options {
    agg_compare_of of;     // shares or counts; means are what they are
    double confidence;     // in (0, 1); 0 means 0.95
    agg_multiple multiple; // rule behind `detected`
    size_t top;            // rows to keep; 0 keeps all
    unsigned n_threads;    // 0 means 1
} agg_compare_options;

typedef struct agg_compare_row {
    agg_text value;
    double a, b;                // shares or counts, raw
    int a_withheld, b_withheld; // the count is below the side's release threshold: show neither it
                                // nor the difference
    double difference, stderr_, low, high;
    double z; // difference over its standard deviation where nothing changed
    bool detected;
    double score; // what `detected` goes by: z, or less where few reports make the normal law too
                  // ready to believe
} agg_compare_row;

typedef struct agg_compare {
    const agg_recipe *recipe_a, *recipe_b;
    uint64_t n_a, n_b; // reports
    agg_compare_of of;
    double confidence;
    agg_multiple multiple;
    size_t n_dictionary; // values asked for
    size_t n_withheld;   // rows below the release threshold on both sides, not in `rows`
    size_t n_rows;
    agg_compare_row *rows;                   // by falling |z|, ties by value
    const struct agg_guarantee *guarantee_a; // as in agg_estimate: both, or both NULL
    const struct agg_guarantee *guarantee_b;
} agg_compare;

// Compares two accumulators value by value.
//   compare: its rows point into a->dictionary, which must outlive it
// Returns: AGG_ERR_COHORT with exit code 3, and nothing else, when either is below its recipe's
// minimum cohort; RECIPE_HASH;
//   AGG_ERR_USAGE when the two hold the same reports.
// Privacy: post-processing. Of a value that one side withholds, the other side's number and
// `detected` are shown, no difference: the withheld count would follow from it.
agg_err agg_compare_run(agg_compare *compare, agg_error *error, const agg_compare_side *a,
                        const agg_compare_side *b,
                        const agg_compare_options *options) SHOAL_MUST_CHECK;

// Returns: the bytes that it takes at its peak, beside the accumulators and the dictionaries.
//   n_values: of either dictionary
uint64_t agg_compare_memory(const agg_recipe *a, const agg_recipe *b, size_t n_values,
                            unsigned n_threads);

void agg_compare_release(agg_compare *compare);

#endif
