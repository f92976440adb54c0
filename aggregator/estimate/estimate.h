// SPDX-License-Identifier: Apache-2.0
// Estimates counts with standard errors and intervals from an accumulator and a dictionary. Pure:
// no files, no clock; the number of threads does not change a result.
//
// A row contains an unbiased count, which may be negative, its standard error, an interval, and
// whether the count is distinguishable from zero. The mechanism's own file *_estimate.c gives
// the formula of the variance. Where reports answer for windows, the error contains the drawing of
// a window's event, and counts are sums of shares of windows (window_picks.h).
//
// The interval covers the true count of one row with the stated confidence. It assumes that reports
// are independent. It is normal where the variance of a support is large, else exact
// (small_counts.h). Mechanisms that add signs have normal intervals only. They need n large enough:
// n q well above 10, where q is the chance that a report enters the sum of a value that its device
// does not hold.
//
// `detected` goes by the binomial law if that is stricter (support_score.h), and holds for all rows
// together. Under `bonferroni` the chance that any value that nobody sent is detected is at most
// 1 - confidence. Under `bh` that bound holds for the expected share of such values among the
// detected (Benjamini and Hochberg 1995, in the adaptive form of multiple.h). Under `none` each row
// is tested alone.
//
// Who picks rows because they are large takes fcr_low and fcr_high: the rows that are shown and
// detected count as selected among all of the dictionary. Ranks hold for all rows together. The
// adjusted count is what to expect of a row that was picked, where it can be told (adjust.h).
#ifndef ESTIMATE_H
#define ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "accumulator.h"
#include "adjust.h"
#include "agg_error.h"
#include "alarms.h"
#include "dictionary.h"
#include "multiple.h"
#include "post.h"
#include "recipe_json.h"
#include "selection.h"
#include "small_counts.h"

struct agg_estimate;

typedef struct agg_estimate_options {
    double confidence;             // in (0, 1); 0 means 0.95
    agg_multiple multiple;         // the rule of `detected`
    size_t top;                    // rows to keep; 0 keeps all
    unsigned n_threads;            // 0 means 1
    agg_post post;                 // a total of 0 means all reports
    const agg_copies_seen *copies; // among the records, as tables saw it; NULL: not counted
    uint32_t by; // 0 for a row each dictionary value; else 1 + the field of the encoding whose
                 // buckets are the rows (marginal.h)
    const struct agg_estimate *picks; // of other reports, over the same dictionary: its rows are
                                      // kept, in its order; NULL: the rows pick themselves
} agg_estimate_options;

typedef struct agg_estimate_row {
    agg_text value;
    uint64_t item;    // of the value; the bucket if the rows are buckets of one field
    double count;     // reports, after post-processing
    double stderr_;   // standard error, reports
    double low, high; // interval at the confidence, normal or exact
    double score;     // support_score.h, in standard errors
    bool detected;
    double raw;               // the unbiased count; stderr_, low, high and detected refer to it
    double fcr_low, fcr_high; // the interval of a selected row (selection.h), of the raw count
    agg_rank rank;            // of the raw count, for all rows together at the confidence
    agg_adjusted adjusted;    // adjust.h, of the raw count; NAN without an adjustment
} agg_estimate_row;

// The blocks of a store that a result is made of.
typedef struct agg_estimate_blocks {
    uint64_t n;
    char first[11], last[11]; // days "YYYY-MM-DD": of the first arrival, of the last closing
} agg_estimate_blocks;

typedef struct agg_estimate {
    const agg_recipe *recipe;
    const char *statistic; // "count", or "mean" if the one row is a mean in the recipe's units
    uint64_t n;            // reports
    double epsilon;        // of one report, as the recipe states it
    double confidence;
    agg_multiple multiple;
    agg_post post;
    uint32_t by;         // as in the options
    size_t n_dictionary; // values in the dictionary
    size_t n_withheld;   // rows below release.threshold, not in `rows`
    uint64_t n_picking;  // reports of options.picks; 0 without it
    size_t n_rows;
    agg_estimate_row *rows;            // by falling count, then by falling raw count, then by value
    agg_support_law law;               // of supports; p is 0 if they have no such law
    agg_selection selection;           // the rows shown and detected, of all; zeros for a mean
    agg_adjust_state adjusting;        // whether rows have adjusted figures, and why not
    agg_alarms alarms;                 // of the whole accumulator
    const agg_estimate_blocks *blocks; // printed with the result; NULL for files
    agg_shards_about shards; // of the manifests that the accumulator counts; zeros without any
    const struct agg_guarantee *guarantee; // printed with the result (guarantee.h); may be NULL
    const struct agg_distribution *distribution; // printed with the result (distribution.h); may be
                                                 // NULL
} agg_estimate;

// Estimates the count of every dictionary value, or of every bucket of one field.
//   estimate: its rows point into `dictionary`, which must outlive it; guarantee is NULL, and the
//   caller may set it
//   dictionary: agg_dictionary_of_field's if options->by is not 0
// Returns: AGG_ERR_COHORT with exit code 3 if n is below recipe.cohort_minimum;
// SHOAL_ERR_RECIPE_HASH; AGG_ERR_USAGE for post-processing of a mean, for a total above n, and if
// agg_marginal refuses.
// Cost: k hashes a value; agg_estimate_memory bytes.
// Privacy: post-processing of private records. The minimum cohort and the release threshold are
// enforced here. A row is released if both its raw and its post-processed count reach the
// threshold, a mean if there are that many reports.
agg_err agg_estimate_run(agg_estimate *estimate, agg_error *error, const agg_recipe *recipe,
                         const agg_accumulator *acc, const agg_dictionary *dictionary,
                         const agg_estimate_options *options) SHOAL_MUST_CHECK;

// Returns: the bytes that agg_estimate_run takes at its peak and that the estimate then holds, not
// counting the accumulator and the dictionary.
//   n_values: values in the dictionary
uint64_t agg_estimate_memory(const agg_recipe *recipe, size_t n_values,
                             const agg_estimate_options *options);

void agg_estimate_release(agg_estimate *estimate);

// Returns: SHOAL_OK if the accumulator is of this recipe and n reaches the minimum cohort; else as
// agg_estimate_run.
agg_err agg_estimate_check(agg_error *error, const agg_recipe *recipe,
                           const agg_accumulator *acc) SHOAL_MUST_CHECK;

#endif
