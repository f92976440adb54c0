// SPDX-License-Identifier: Apache-2.0
// LASSO regression on a design of zeros and ones, by cyclic coordinate descent. Private to
// estimate/.
//
// Finds the b0 (where there is an intercept) and b that minimise
//
//     1/2 sum_i w_i (y_i - b0 - sum_j x_ij b_j)^2 + lambda sum_j s_j |b_j|,       sum_i w_i = 1
//
// with every b_j >= 0 where asked. s_j is 1, or under `standardize` the weighted standard deviation
// of column j: the same as giving every column unit deviation, fitting, and returning b on the
// scale of zeros and ones. These are glmnet's objective, scale of lambda and options (Friedman,
// Hastie and Tibshirani, J. Statistical Software 33, 2010), and the answers are tested against its.
//
// A solver keeps its last solution, so a path of falling lambdas costs little more than its last
// step.
#ifndef LASSO_H
#define LASSO_H

#include <stdbool.h>

#include "agg_error.h"
#include "bit_design.h"

typedef struct agg_lasso_options {
    int standardize;
    bool has_intercept; // never penalised
    bool is_nonnegative;
    double tolerance; // a cycle that moves the fit by less than this share of the null deviance is
                      // the last
    unsigned max_cycles; // of one solve
} agg_lasso_options;

typedef struct agg_lasso {
    const agg_bit_design *design;
    agg_lasso_options options;
    double *coefficients; // n_columns; the last solution
    double intercept;
    size_t n_active;    // columns whose coefficient is not zero
    bool has_converged; // 0 when max_cycles ended the last solve
    double *weights;    // w, n_rows
    double *gradient;   // w_i times the residual without `level`, n_rows
    double *mean;       // n_columns: weighted mean of a column
    double *curvature;  // n_columns: weighted square of a column, about its mean where there is an
                        // intercept; 0: unusable
    double *penalty;    // n_columns: s_j
    double level;       // added to every residual, so that centred columns stay sparse
    double null_square; // sum of w (y - mean)^2
} agg_lasso;

// Starts at b = 0.
//   weights: n_rows, >= 0, not all 0; NULL for equal ones. Scaled to sum 1
//   y: n_rows
// Returns: SHOAL_ERR_RANGE for a weight or response that is negative or not finite, or weights that
// are all 0.
agg_err agg_lasso_init(agg_lasso *lasso, agg_error *error, const agg_bit_design *design,
                       const double *weights, const double *y,
                       const agg_lasso_options *options) SHOAL_MUST_CHECK;

// Returns: the smallest lambda at which b = 0 is the solution (of a solver that has not been run
// yet).
double agg_lasso_largest(const agg_lasso *lasso);

// Moves to the solution at lambda >= 0. Cost: one pass over the design's ones for each cycle over
// all columns; most cycles visit the active columns only.
void agg_lasso_solve(agg_lasso *lasso, double lambda);

void agg_lasso_release(agg_lasso *lasso);

#endif
