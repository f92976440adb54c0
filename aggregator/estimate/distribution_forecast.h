// SPDX-License-Identifier: Apache-2.0
// What an estimate of a distribution (distribution.h) will be worth, before there are reports: the
// expected errors for a crowd that is supposed. Pure: no files, no clock, no random numbers.
//
// The reports that are expected of the crowd take the place of observed ones in the fit. That gives
// the fit's bias b(x) at each place x of the range, and how it varies over reports and over the
// drawing of devices, s(x) (agg_density_forecast). The estimated share F(x) below x is then taken
// as normal around the crowd's share plus b(x), with the standard deviation s(x):
//
//     distance       the mean over x of E |F(x) - the crowd's share below x|: the expected
//                    Wasserstein distance, in ranges
//     of a quantile  E |estimate - the crowd's quantile|, in ranges, with P(estimate <= x) =
//                    P(F(x) >= p); so gaps and steep places count as they are
//
// That leaves out how the strength of smoothing varies with the reports, so a forecast is too small
// by up to a third where buckets are few. It ranks candidates. What a plan states are errors of
// simulated collections: agg_distribution_trial.
#ifndef DISTRIBUTION_FORECAST_H
#define DISTRIBUTION_FORECAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"
#include "mechanism.h"

#define AGG_FORECAST_CELLS 4096u
#define AGG_FORECAST_QUANTILES 3u

// A crowd's numbers: the share in each of equal parts of the range, even within a part.
typedef struct agg_forecast_crowd {
    double shares[AGG_FORECAST_CELLS]; // add up to 1
} agg_forecast_crowd;

typedef struct agg_forecast {
    double distance;                          // expected, in ranges
    double quantiles[AGG_FORECAST_QUANTILES]; // the crowd's, in ranges
    double errors[AGG_FORECAST_QUANTILES];    // expected, in ranges
} agg_forecast;

// Forecasts the errors of n reports of a part whose answers are places, or of a list whose entries
// are equal buckets of the range.
//   part: prepared
//   variances: of a list: of the count of each bucket, in reports squared, about these very
//   devices; size of the list, at most 256. NULL for places
//   p: the quantiles, each in (0, 1); n_quantiles at most AGG_FORECAST_QUANTILES
// Returns: AGG_ERR_MEMORY; SHOAL_ERR_RANGE if nothing fits.
// Cost: some tenths of a second to a second.
agg_err agg_distribution_forecast(agg_forecast *forecast, agg_error *error, const shoal_part *part,
                                  const double *variances, const agg_forecast_crowd *crowd,
                                  double n, const double *p, size_t n_quantiles) SHOAL_MUST_CHECK;

// Draws what n reports of the crowd would tell, and fits it as an estimate does. Counts of places
// are Poisson, errors of buckets' counts normal.
//   trial: the distance of this collection's fit, and the errors of its quantiles
//   part, variances, crowd, n, p: as for agg_distribution_forecast
//   sums_up: the reports support the same number of values each, so that errors of all counts of a
//   list, "none" among them, add up to zero
//   seed: of the draws
// Returns, cost: as agg_distribution_forecast, a tenth of a second.
agg_err agg_distribution_trial(agg_forecast *trial, agg_error *error, const shoal_part *part,
                               const double *variances, bool sums_up,
                               const agg_forecast_crowd *crowd, double n, const double *p,
                               size_t n_quantiles, uint64_t seed) SHOAL_MUST_CHECK;

// Sets a crowd from its distribution function; what lies beyond the range counts at its ends.
//   below: the share below x of the range
void agg_forecast_crowd_of(agg_forecast_crowd *crowd, double (*below)(double x));

// Returns: the share of the crowd below x.
//   x: 0 to 1
double agg_forecast_below(const agg_forecast_crowd *crowd, double x);

#endif
