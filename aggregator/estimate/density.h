// SPDX-License-Identifier: Apache-2.0
// A smooth distribution from noisy observations of it: penalized maximum likelihood, with the
// strength of smoothing chosen by the data. Private to estimate/. Pure; doubles.
//
// The unknown is the share theta_j of each of N cells of a range, theta_j = w_j e^(eta_j) over
// their sum, with w_j the cell's width. The estimate maximizes
//
//     log likelihood(theta) - (lambda/2) sum_r v_r (eta_r - 2 eta_(r+1) + eta_(r+2))^2
//
// Plain maximum likelihood fits the noise. Smoothing in each step of the EM algorithm (Li et al.,
// SIGMOD 2020, section 5.5) approximates such a penalty (Silverman, Jones, Wilson, Nychka 1990,
// "A smoothed EM approach to indirect estimation problems"). Here the penalty is explicit, so that
// its strength lambda can be chosen and its bias counted. Newton's method finds the maximum in a
// few steps where EM takes thousands.
//
// The penalty is a prior: second differences of the log density are normal with variance
// 1/(lambda v_r). So every lambda has an evidence, the probability of the observations under it, by
// Laplace's approximation. v_r = (4 x (1 - x))^a at the place x of the range leaves the ends of the
// range freer the larger a is: there densities rise and fall steeply. The estimate averages over
// lambda and a = 1, 3 by their evidence.
//
// Errors are those of the posterior distribution. They contain the variance of the observations,
// which resampling the reports would show, and beside it the average squared bias of the smoothing
// (Wahba 1983, Nychka 1988), which it would not; and how the averaged estimates differ.
#ifndef DENSITY_H
#define DENSITY_H

#include <stddef.h>

#include "agg_error.h"

#define AGG_DENSITY_CELLS_MAX 512u

typedef struct agg_density_data {
    size_t n_cells;      // 3 .. AGG_DENSITY_CELLS_MAX
    const double *edges; // n_cells + 1, ascending from 0 to 1
    // Returns: the log likelihood of n_cells shares that add up to 1, up to a constant.
    double (*log_likelihood)(const struct agg_density_data *data, const double *shares);
    // Sets the gradient of the log likelihood in the shares, and adds to the lower triangle of an
    // n_cells * n_cells matrix its expected negative second derivative.
    void (*curvature)(double *gradient, double *information, const struct agg_density_data *data,
                      const double *shares);
    const void *observed; // of the two functions
} agg_density_data;

// A share of the whole, with its standard error.
typedef struct agg_density_share {
    double share, stderr_;
} agg_density_share;

typedef struct agg_density_range {
    double low, high; // 0 to 1
} agg_density_range;

// Estimates the shares of ranges.
//   shares: n_ranges; within a cell the distribution is taken to be even
// Returns: AGG_ERR_MEMORY; SHOAL_ERR_RANGE if the observations are too odd for a fit.
// Cost: some hundred Cholesky factors of n_cells * n_cells: some tenths of a second for 257
// cells.
agg_err agg_density_fit(agg_density_share *shares, agg_error *error, const agg_density_data *data,
                        const agg_density_range *ranges, size_t n_ranges) SHOAL_MUST_CHECK;

// As agg_density_fit, without errors: each stderr_ is 0. Cost: some tenths less.
agg_err agg_density_shares(agg_density_share *shares, agg_error *error,
                           const agg_density_data *data, const agg_density_range *ranges,
                           size_t n_ranges) SHOAL_MUST_CHECK;

// Forecasts agg_density_fit before there are observations.
//   data: with what is expected to be observed in place of what was
//   shares: as in agg_density_fit; `share` is the fit's expectation, with the bias of its
//   smoothing, and stderr_ how it varies over observations, without that bias
// A strength's evidence is what it is on average over observations: noise lets a fit gain half of
// its effective number of parameters. That weights vary with the observations is left out.
// Returns, cost: as agg_density_fit, and as much again.
agg_err agg_density_forecast(agg_density_share *shares, agg_error *error,
                             const agg_density_data *data, const agg_density_range *ranges,
                             size_t n_ranges) SHOAL_MUST_CHECK;

#endif
