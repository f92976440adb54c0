// SPDX-License-Identifier: Apache-2.0
// LASSO regression on a design of zeros and ones, by cyclic coordinate descent. Private to
// estimate/.
//
// Finds b, and b0 if there is an intercept, that minimise
//
//     1/2 sum_i w_i (y_i - b0 - sum_j x_ij b_j)^2 + lambda sum_j s_j |b_j|,       sum_i w_i = 1
//
// with b_j >= 0 if is_nonnegative. s_j is 1, or with `standardize` the weighted standard deviation
// of column j. That is the same as scaling every column to unit deviation, fitting, and scaling b
// back. Objective, scale of lambda and options are glmnet's, and the results are tested against it.
//
// A solver keeps its last solution, so a path of falling lambdas costs little more than its last
// step.
//
// Source: Friedman, Hastie and Tibshirani, J. Statistical Software 33, 2010.
#ifndef LASSO_H
#define LASSO_H

#include <stdbool.h>

#include "agg_error.h"
#include "bit_design.h"

typedef struct agg_lasso_options {
    bool standardize;
    bool has_intercept; // never penalised
    bool is_nonnegative;
    double tolerance; // stop after a cycle that moves the fit by less than this share of the null
                      // deviance
    unsigned max_cycles; // cycles of one solve
} agg_lasso_options;

typedef struct agg_lasso {
    const agg_bit_design *design;
    agg_lasso_options options;
    double *coefficients; // n_columns; the last solution
    double intercept;
    size_t n_active;    // columns whose coefficient is not zero
    bool has_converged; // false if max_cycles ended the last solve
    double *weights;    // w, n_rows
    double *gradient;   // n_rows: w_i times the residual, `level` left out
    double *mean;       // n_columns: weighted mean of a column
    double *curvature;  // n_columns: weighted square of a column, about its mean if there is an
                        // intercept; 0 for an unusable column
    double *penalty;    // n_columns: s_j
    double level;       // a part of every residual, kept apart so that centred columns stay sparse
    double null_square; // sum of w (y - mean)^2
} agg_lasso;

// Initializes a solver at b = 0.
//   weights: n_rows, at least 0, not all 0; NULL for equal weights. They are scaled to sum 1
//   y: n_rows
// Returns: SHOAL_ERR_RANGE for a weight or response that is negative or not finite, and if all
// weights are 0.
agg_err agg_lasso_init(agg_lasso *lasso, agg_error *error, const agg_bit_design *design,
                       const double *weights, const double *y,
                       const agg_lasso_options *options) SHOAL_MUST_CHECK;

// Returns: the smallest lambda at which b = 0 is the solution.
//   lasso: not solved yet
double agg_lasso_largest(const agg_lasso *lasso);

// Moves to the solution at lambda >= 0.
// Cost: one pass over the design's ones for each cycle over all columns; most cycles visit the
// active columns only.
void agg_lasso_solve(agg_lasso *lasso, double lambda);

void agg_lasso_release(agg_lasso *lasso);

#endif
