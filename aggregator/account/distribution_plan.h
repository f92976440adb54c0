// SPDX-License-Identifier: Apache-2.0
// Plans a collection of numbers of which the distribution is wanted: square waves, or a list of
// buckets by the mechanism with the least error for it. Pure.
//
// Candidates, of buckets 8 to 256, are ranked by forecasts of their errors for a supposed crowd
// (distribution_forecast.h): the distance of distribution functions, or one quantile. The first
// two are then tried on simulated collections, and the errors are the means of these. Their own
// standard errors are some 6 % for distances and 10 % for quantiles.
#ifndef DISTRIBUTION_PLAN_H
#define DISTRIBUTION_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"
#include "distribution_forecast.h"
#include "mechanism.h"

#define AGG_DISTRIBUTION_PLANS 7u   // candidates
#define AGG_DISTRIBUTION_TRIED 2u   // of them, and kept
#define AGG_DISTRIBUTION_TRIALS 64u // simulated collections of each
#define AGG_DISTRIBUTION_SHAPES 4u

typedef struct agg_distribution_wish {
    double n;               // reports
    char low[32], high[32]; // the range, as it is written into a recipe
    double low_end, width;  // and as numbers
    uint32_t eps_micro;
    uint32_t mechanism; // 0: any
    uint32_t size;      // buckets; 0: any number
    agg_forecast_crowd crowd;
    const char *crowd_name;
    double quantiles[AGG_FORECAST_QUANTILES]; // the median, 0.9, and one more that is asked for
    size_t n_quantiles;
    bool is_by_quantile; // judged by the last quantile, else by the distance
} agg_distribution_wish;

typedef struct agg_distribution_candidate {
    const shoal_mechanism *mechanism;
    shoal_part part;       // prepared; its seed is zeros; size 0 for square waves
    agg_forecast forecast; // errors are means of the trials
    double judged;         // by which candidates are sorted, in ranges
} agg_distribution_candidate;

typedef struct agg_distribution_plan {
    size_t n_candidates; // 0: no mechanism answers the wish
    agg_distribution_candidate candidates[AGG_DISTRIBUTION_PLANS]; // by rising error
} agg_distribution_plan;

// Returns: the name of a supposed crowd, or NULL beyond the last. Sets the crowd if it is not NULL.
//   skewed  log-normal, its median a sixtieth of the range, sigma 1.5: time on a page
//   hump    beta(5,2): one hump
//   humps   0.6 of the crowd near a quarter of the range, the others near 0.7
//   even    uniform
const char *agg_distribution_shape(agg_forecast_crowd *crowd, size_t index);

// Judges all candidates, on up to n_threads threads.
// Returns: AGG_ERR_MEMORY; SHOAL_ERR_RANGE if no distribution fits.
// Cost: some 40 s of processor time, shared by the threads.
agg_err agg_distribution_plan_run(agg_distribution_plan *plan, agg_error *error,
                                  const agg_distribution_wish *wish,
                                  unsigned n_threads) SHOAL_MUST_CHECK;

#endif
