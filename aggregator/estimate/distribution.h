// SPDX-License-Identifier: Apache-2.0
// How a number is spread: histogram, distribution function and quantiles with intervals, from
// mechanisms that answer with places (square waves), or from counts of a range's buckets. Pure: no
// files, no clock, no random numbers.
//
// The distribution is density.h's. Its interval of a share is normal. That of a quantile holds the
// numbers x at which the interval of the share below x holds p, so it follows flat and steep places
// as they are. Beside the error of the share it counts what the grid hides: within a cell numbers
// are taken to lie evenly.
//
// Intervals are about the crowd that the devices were drawn from, one at a time, at the stated
// confidence. They assume that reports are independent. docs/distributions.md has their measured
// coverage.
#ifndef DISTRIBUTION_H
#define DISTRIBUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "accumulator.h"
#include "agg_error.h"
#include "estimate.h"
#include "recipe_json.h"

#define AGG_QUANTILES_MAX 32u

typedef struct agg_quantile {
    double p;                // in (0, 1)
    double value, low, high; // in the recipe's units
} agg_quantile;

// A part of the range and the share of numbers in it.
typedef struct agg_distribution_bin {
    double from, to;                  // in the recipe's units
    double share, stderr_, low, high; // low and high within 0 and 1
} agg_distribution_bin;

// The rows of forms that hold rows only.
typedef enum agg_distribution_rows {
    AGG_ROWS_COUNTS = 0, // those of the estimate itself
    AGG_ROWS_QUANTILES,
    AGG_ROWS_HISTOGRAM,
    AGG_ROWS_ECDF
} agg_distribution_rows;

typedef struct agg_distribution {
    double confidence;
    agg_distribution_rows rows; // as in the options
    size_t n_quantiles;
    agg_quantile quantiles[AGG_QUANTILES_MAX];
    size_t n_bins;
    agg_distribution_bin *bins; // the histogram, released with the rest
    size_t n_steps;
    agg_distribution_bin *steps; // the distribution function: the share from the range's lower end,
                                 // `from`, up to and with `to`
    size_t n_withheld;           // bins below release.threshold, whose share and errors are NaN
} agg_distribution;

typedef struct agg_distribution_options {
    double confidence; // in (0, 1); 0 means 0.95
    size_t n_quantiles;
    double quantiles[AGG_QUANTILES_MAX]; // each in (0, 1)
    size_t n_bins;                       // 1 .. 256; 0 means 16
    agg_distribution_rows rows;          // for printing
    unsigned n_threads;                  // 0 means 1
} agg_distribution_options;

// Returns: whether the part is of a mechanism whose recipes ask for a distribution.
bool agg_distribution_is_asked(const agg_recipe *recipe);

// Returns: the options for a page: the quartiles, 0.9 and 0.99, and no quantiles where the recipe
// has a release threshold. Quantiles are points of the distribution function, which it withholds.
agg_distribution_options agg_distribution_of_pages(const agg_recipe *recipe);

// Returns: whether a recipe's reports tell a distribution: its values are numbers, by places or by
// the buckets of a range, and the mechanism does not estimate a mean only.
bool agg_distribution_is_told(const agg_recipe *recipe);

// Estimates the distribution of a recipe whose values are numbers.
//   recipe: no compound; a variable may be viewed as a recipe of its own
// Returns: AGG_ERR_USAGE if values are no numbers, if the mechanism estimates a mean only, or if
// reports answer for windows and a window without events is a number; AGG_ERR_COHORT as
// agg_estimate_run; SHOAL_ERR_RANGE if the reports fit no distribution.
// Cost: some seconds at most, and 2 MB.
// Privacy: post-processing of private records. The minimum cohort is enforced here; bins below the
// release threshold are withheld, and so is the distribution function where there is a threshold.
agg_err agg_distribution_run(agg_distribution *distribution, agg_error *error,
                             const agg_recipe *recipe, const agg_accumulator *acc,
                             const agg_distribution_options *options) SHOAL_MUST_CHECK;

void agg_distribution_release(agg_distribution *distribution);

#endif
