// SPDX-License-Identifier: Apache-2.0
// A smooth distribution of true values behind noisy ones: which values there are, and how many of
// each, if the law of the noise is known. Pure.
//
// The unknown distribution has weights on a grid of nodes. A value of node j is seen in bin b with
// a known probability R_bj, and counts y_b were seen of N values. The weights are
//
//     w_j = h_j exp(sum_k B_jk beta_k)
//
// with cubic splines B_k of a coordinate, and the fit maximizes
//
//     sum_b ( y_b log mu_b - mu_b ) - lambda/2 sum_k (beta_(k-1) - 2 beta_k + beta_(k+1))^2,
//     mu_b = N sum_j R_bj w_j
//
// So the logarithm of the density is as straight as the data allow, and power laws cost nothing
// where the coordinate is a logarithm. Lambda is that of the largest marginal likelihood (Laplace).
// Without the penalty the likelihood is greatest for a few points, between which intervals vanish.
// Sources: Efron, "Empirical Bayes deconvolution estimates" (Biometrika 103, 2016) for the
// exponential family of priors; Eilers and Marx (Statist. Sci. 11, 1996) for the penalty.
#ifndef SMOOTH_PRIOR_H
#define SMOOTH_PRIOR_H

#include <stddef.h>

#include "agg_error.h"

typedef struct agg_smooth_problem {
    size_t n_bins, n_nodes; // the last n_free nodes have weights of their own, without splines
    size_t n_free;
    const double *response; // n_bins x n_nodes, R_bj
    const double *counts;   // n_bins, y_b, not negative; their sum is N
    const double *at;       // n_nodes - n_free, rising coordinates
    const double *widths;   // n_nodes - n_free, h_j
} agg_smooth_problem;

typedef struct agg_smooth_fit {
    double lambda;
    double freedom; // parameters that the data determine
    double p;       // of the fit by chi square over bins that expect 5 or more; 1 if there are few
} agg_smooth_fit;

// Fits the weights.
//   weights: n_nodes, of sum 1
// Returns: AGG_ERR_MEMORY.
// Cost: some 200 passes over the response for each of 20 parameters, about 20 ms for 100 x 100.
agg_err agg_smooth_prior(double *weights, agg_smooth_fit *fit, agg_error *error,
                         const agg_smooth_problem *problem) SHOAL_MUST_CHECK;

#endif
