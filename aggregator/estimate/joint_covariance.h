// SPDX-License-Identifier: Apache-2.0
// How sure a joint distribution is: the inverse of the observed information of its cells
// (fanti-2016 section 3.3), and from it standard errors and intervals of cells, of marginals and of
// conditional rates. Pure.
//
// With s_k = sum over cells of p * likelihood of report k, the information is J = sum over reports
// of (likelihood_c likelihood_d / s_k^2). Shares sum to 1, so that only directions within that
// plane are free: J is reflected (Householder) so that its first axis is the vector of ones, that
// axis is dropped, and the other n - 1 are inverted, by Cholesky, or by Jacobi where the data say
// nothing of some direction. Then
//
//     covariance of the shares = Z (Z' J Z)^- Z',     Z an orthonormal basis of the plane
//
// This is also the robust ("sandwich") covariance: of a likelihood linear in p the mean of squared
// scores is J itself.
//
// Assumptions of the intervals: reports of different devices are independent, and each likelihood
// is that of the mechanism; that of "Other" is estimated from the same reports, whose share in the
// error is not counted (docs/joint-study.md: coverage does not show it but for `hadamard`, 90 % in
// place of 95, and `olh` of few rows). A cell at 0 has the error that it would have as a free cell:
// the estimate is cut at 0, which brings it nearer to a true share, so that p +- z errors, cut to
// [0, 1], holds the truth at least as often as it says.
#ifndef JOINT_COVARIANCE_H
#define JOINT_COVARIANCE_H

#include "joint_data.h"
#include "joint_share.h"

typedef struct agg_joint_covariance {
    const agg_joint_data *data; // as given; so is p
    const double *p;
    uint32_t n_cells;
    size_t rank;     // directions that the data speak of
    size_t n_free;   // directions there are: n_cells - 1
    double *matrix;  // n_cells * n_cells: the covariance of the shares, without the directions
                     // nothing is said of
    double *unknown; // (n_free - rank) * n_cells: those directions, orthonormal; NULL where there
                     // are none
} agg_joint_covariance;

// Makes the covariance at an estimate.
//   data, p: kept by reference; p is n_cells shares of the maximum of the likelihood
// Returns: AGG_ERR_MEMORY; SHOAL_ERR_RANGE for data without a report, or with one that is
// impossible under p. Memory: 4 numbers a pair of cells, one more where the rank is not full, and
// up to 64 MiB for the threads. Results have the same bits for any number of threads. Cost: of a
// table of A x B cells, B^2 / 2 multiply-adds a tuple and A^2 B^2 / 4 for each row of the first
// variable; n^3 for the inverse of n cells, some 50 n^3 where the rank is not full.
agg_err agg_joint_covariance_make(agg_joint_covariance *covariance, agg_error *error,
                                  const agg_joint_data *data, const double *p,
                                  unsigned n_threads) SHOAL_MUST_CHECK;
void agg_joint_covariance_release(agg_joint_covariance *covariance);

// Finds shares with their errors and intervals. An interval is p +- z errors, cut to [0, 1]; where
// the data do not say a share, its error is infinite and its interval is [0, 1].
//   shares: n_cells; or of the variable's categories
//   confidence: in (0, 1), 0.95 say
void agg_joint_cells(agg_joint_share *shares, const agg_joint_covariance *covariance,
                     double confidence);
agg_err agg_joint_marginal(agg_joint_share *shares, agg_error *error,
                           const agg_joint_covariance *covariance, uint32_t variable,
                           double confidence) SHOAL_MUST_CHECK;

// Finds the rates P(target's category | given's category), summed over all other variables.
//   shares: variables[given].n rows of variables[target].n
//   given, target: two different variables
// A rate a/b has the delta method's error. Its interval is Fieller's: the rates r at which a - r b
// does not differ from 0. That is a/b +- z errors where b is far from 0, and the whole [0, 1] where
// b itself could be 0. Of an empty category (b = 0) p is NaN and the error infinite.
agg_err agg_joint_rates(agg_joint_share *shares, agg_error *error,
                        const agg_joint_covariance *covariance, uint32_t given, uint32_t target,
                        double confidence) SHOAL_MUST_CHECK;

// Returns: how many cells lie between two neighbouring categories of a variable; cell c has
// category c / stride % variables[variable].n.
static inline size_t agg_joint_stride(const agg_joint_data *data, uint32_t variable)
{
    size_t stride = 1;
    for (uint32_t v = variable + 1; v < data->n_variables; v++) stride *= data->variables[v].n;
    return stride;
}

// Makes the information matrix alone, as above: n_cells * n_cells numbers, whole.
agg_err agg_joint_information(double *information, agg_error *error, const agg_joint_data *data,
                              const double *p, unsigned n_threads) SHOAL_MUST_CHECK;

#endif
