// SPDX-License-Identifier: Apache-2.0
// Standard errors and intervals of a joint distribution's cells, marginals and conditional rates,
// from the inverse of the observed information of its cells (fanti-2016 section 3.3). Pure.
//
// With s_k = sum over cells of p * likelihood of report k, the information is J = sum over reports
// of (likelihood_c likelihood_d / s_k^2). Shares sum to 1, so that only directions within that
// plane are free. A Householder reflection makes the vector of ones the first axis of J. That axis
// is dropped, and the other n - 1 are inverted: by Cholesky, or by Jacobi if the data do not
// determine some direction. Then
//
//     covariance of the shares = Z (Z' J Z)^- Z',     Z an orthonormal basis of the plane
//
// This is also the robust ("sandwich") covariance: for a likelihood that is linear in p, the mean
// of squared scores is J itself.
//
// Assumptions of the intervals: reports of different devices are independent, and the likelihoods
// are those of the mechanism. The likelihoods of "Other" are estimated from the same reports, and
// that error is not counted. docs/joint-study.md measures the coverage: it is as stated, except
// 90 % instead of 95 % for `hadamard`, and less for `olh` with few rows. A cell at 0 has the error
// of a free cell. Cutting its estimate at 0 moves it nearer to the true share, so that the interval
// p +- z errors, cut to [0, 1], covers the truth at least as often as stated.
#ifndef JOINT_COVARIANCE_H
#define JOINT_COVARIANCE_H

#include "joint_data.h"
#include "joint_share.h"

typedef struct agg_joint_covariance {
    const agg_joint_data *data; // as given, like p
    const double *p;
    uint32_t n_cells;
    size_t rank;     // directions that the data determine
    size_t n_free;   // all free directions: n_cells - 1
    double *matrix;  // n_cells * n_cells: the covariance of the shares along the determined
                     // directions
    double *unknown; // (n_free - rank) * n_cells: an orthonormal basis of the other directions;
                     // NULL if there are none
} agg_joint_covariance;

// Makes the covariance at an estimate.
//   data: kept by reference
//   p: n_cells shares, the maximum of the likelihood; kept by reference
// Returns: AGG_ERR_MEMORY; SHOAL_ERR_RANGE for data without a report, or with a report that is
// impossible under p. Results have the same bits for any number of threads.
// Cost: for a table of A x B cells, B^2 / 2 multiply-adds a tuple and A^2 B^2 / 4 for each row of
// the first variable. The inverse of n cells takes n^3 multiply-adds, or some 50 n^3 if the rank is
// not full. Memory is 4 numbers a pair of cells, one more if the rank is not full, and up to 64 MiB
// for the threads.
agg_err agg_joint_covariance_make(agg_joint_covariance *covariance, agg_error *error,
                                  const agg_joint_data *data, const double *p,
                                  unsigned n_threads) SHOAL_MUST_CHECK;

void agg_joint_covariance_release(agg_joint_covariance *covariance);

// Computes the shares of all cells with their errors and intervals. An interval is p +- z errors,
// cut to [0, 1]. If the data do not determine a share, its error is infinite and its interval [0,
// 1].
//   shares: n_cells
//   confidence: in (0, 1)
void agg_joint_cells(agg_joint_share *shares, const agg_joint_covariance *covariance,
                     double confidence);

// Computes the shares of a variable's categories, summed over all other variables.
//   shares: variables[variable].n
// Returns: AGG_ERR_MEMORY.
agg_err agg_joint_marginal(agg_joint_share *shares, agg_error *error,
                           const agg_joint_covariance *covariance, uint32_t variable,
                           double confidence) SHOAL_MUST_CHECK;

// Computes the rates P(target's category | given's category), summed over all other variables.
//
// The error of a rate a/b is the delta method's. Its interval is Fieller's: all rates r for which
// a - r b does not differ significantly from 0. That is about a/b +- z errors if b is far from 0,
// and [0, 1] if b itself could be 0. For an empty category (b = 0) p is NaN and the error infinite.
//
//   shares: variables[given].n rows of variables[target].n
//   given, target: two different variables
// Returns: AGG_ERR_MEMORY.
agg_err agg_joint_rates(agg_joint_share *shares, agg_error *error,
                        const agg_joint_covariance *covariance, uint32_t given, uint32_t target,
                        double confidence) SHOAL_MUST_CHECK;

// Returns: the distance of two neighbouring categories of a variable, in cells: the category of
// cell c is c / stride % variables[variable].n.
static inline size_t agg_joint_stride(const agg_joint_data *data, uint32_t variable)
{
    size_t stride = 1;
    for (uint32_t v = variable + 1; v < data->n_variables; v++) stride *= data->variables[v].n;
    return stride;
}

// Computes the information matrix J only.
//   information: n_cells * n_cells, whole
agg_err agg_joint_information(double *information, agg_error *error, const agg_joint_data *data,
                              const double *p, unsigned n_threads) SHOAL_MUST_CHECK;

#endif
