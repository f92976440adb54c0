// SPDX-License-Identifier: Apache-2.0
// Counts with standard errors and intervals, from an accumulator and a dictionary. Pure: no files,
// no clock, no threads' order in a result.
//
// Rows hold what the estimator says: an unbiased count (it may be negative), its standard error, a
// normal interval, and whether the count is distinguishable from zero. The interval holds for one
// row at the stated confidence, when n is large enough for the normal law: n q (1-q) well above 10,
// q being the chance that a report supports a value that its device does not hold. `detected` goes
// by the binomial law where that is stricter (estimator.h), and holds for all rows together: under
// `bonferroni` the chance that any value that nobody sent is called detected is at most 1 -
// confidence; under `bh` the expected share of false ones among the detected is (Benjamini and
// Hochberg 1995, in the adaptive form of multiple.h); under `none` each row is tested alone.
#ifndef ESTIMATE_H
#define ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "accumulator.h"
#include "agg_error.h"
#include "dictionary.h"
#include "multiple.h"
#include "post.h"
#include "recipe_json.h"

typedef struct agg_estimate_options {
    double confidence;     // in (0, 1); 0 means 0.95
    agg_multiple multiple; // rule behind `detected`
    size_t top;            // rows to keep; 0 keeps all
    unsigned n_threads;    // 0 means 1
    agg_post post;         // a total of 0 means all reports
    uint32_t by; // 0: a row for each dictionary value; else 1 + the field of the encoding whose
                 // buckets are the rows (marginal.h)
} agg_estimate_options;

typedef struct agg_estimate_row {
    agg_text value;
    uint64_t item;    // the value's; a bucket where rows are of one field
    double count;     // reports; after post-processing
    double stderr_;   // standard error, reports
    double low, high; // normal interval at the confidence
    double score;     // how far the count stands out of the noise of a value that nobody sent, in
                      // standard errors
    bool detected;
    double raw; // the count before post-processing, which stderr_, low, high and detected are about
} agg_estimate_row;

typedef struct agg_estimate {
    const agg_recipe *recipe;
    const char *statistic; // "count"; "mean" where the one row is a mean, in the recipe's units
    uint64_t n;            // reports
    double epsilon;        // of one report, as stated in the recipe
    double confidence;
    agg_multiple multiple;
    agg_post post;
    uint32_t by;         // as in the options
    size_t n_dictionary; // values asked for
    size_t n_withheld;   // rows below release.threshold, not in `rows`
    size_t n_rows;
    agg_estimate_row *rows; // by falling count, then raw count, then value
    const struct agg_guarantee *
        guarantee; // what the result promises (guarantee.h), printed with it; NULL: nothing is said
} agg_estimate;

// Estimates the count of every dictionary value, or of every bucket of one field: the dictionary is
// then agg_dictionary_of_field's.
//   estimate: its rows point into `dictionary`, which must outlive it; guarantee is NULL, for the
//   caller to set
// Returns: AGG_ERR_COHORT with exit code 3, and nothing else, when n is below
// recipe.cohort_minimum; RECIPE_HASH;
//   AGG_ERR_USAGE for post-processing of a mean, for a total above n, and where agg_marginal
//   refuses.
// Cost: k hashes per value; memory 16 bytes a value and a block.
// Privacy: post-processing of private records; the release threshold and minimum cohort are
// enforced here. A row needs both its counts, raw and post-processed, at the threshold; a mean
// needs that many reports.
agg_err agg_estimate_run(agg_estimate *estimate, agg_error *error, const agg_recipe *recipe,
                         const agg_accumulator *acc, const agg_dictionary *dictionary,
                         const agg_estimate_options *options) SHOAL_MUST_CHECK;

// Returns: the bytes that it takes at its peak and the estimate then holds, beside the accumulator
// and the dictionary.
//   n_values: of the dictionary
uint64_t agg_estimate_memory(const agg_recipe *recipe, size_t n_values,
                             const agg_estimate_options *options);

void agg_estimate_release(agg_estimate *estimate);

// SHOAL_OK when the accumulator is of this recipe and its cohort is large enough; else as
// agg_estimate_run.
agg_err agg_estimate_check(agg_error *error, const agg_recipe *recipe,
                           const agg_accumulator *acc) SHOAL_MUST_CHECK;

#endif
