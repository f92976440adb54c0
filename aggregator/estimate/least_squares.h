// SPDX-License-Identifier: Apache-2.0
// Weighted least squares with an intercept on chosen columns of a design of zeros and ones, with
// the covariance of the coefficients. Private to estimate/.
//
// The model is y = b0 + sum over the chosen columns of b_j x_j + error, with errors of variance phi
// / w_i. The fit is a Cholesky factor of A' W A, where A is a column of ones and then the chosen
// columns in the order given. The factor grows column by column. A column whose pivot is next to
// zero is a combination of earlier columns. It is left out of the factor, and it and those columns
// are marked is_tied, because the data cannot tell their coefficients apart.
#ifndef LEAST_SQUARES_H
#define LEAST_SQUARES_H

#include <stdbool.h>

#include "agg_error.h"
#include "bit_design.h"

typedef struct agg_least_squares {
    const agg_bit_design *design;
    const double *weights, *y; // as given
    size_t n_chosen;
    size_t n_fitted; // independent columns in the factor, including the intercept
    double intercept;
    double *coefficients; // n_chosen; 0 for a column outside the factor
    double *residuals;    // n_rows
    bool *is_tied;        // n_chosen: the data cannot tell the coefficient from others
    size_t n_free;        // rows of weight above 0 less n_fitted, at least 0
    // The members below are private.
    size_t width;         // n_chosen + 1
    double *factor;       // width * width; row k is column k of the lower Cholesky factor, from the
                          // diagonal on
    double *inverse;      // width * width; row k is row k of the lower factor's inverse
    size_t *position;     // n_chosen + 1: place in the factor; SIZE_MAX for a column outside it
    size_t *row_start;    // n_rows + 1: where each row begins in row_chosen
    uint32_t *row_chosen; // the chosen columns with a one in each row, ascending
    double *scratch;      // 2 * width
} agg_least_squares;

// The coefficient that a column outside the model would have in it.
typedef struct agg_least_squares_entry {
    double coefficient;
    double variance; // divided by phi
    bool is_tied;    // the column is a combination of columns in the model, which are then marked
                     // is_tied too; the other members are 0
} agg_least_squares_entry;

// Fits the model. design, chosen, weights and y must outlive the fit.
//   chosen: n_chosen distinct columns of the design
//   weights: n_rows, at least 0
//   y: n_rows
// Returns: SHOAL_ERR_RANGE if no row has a weight; AGG_ERR_MEMORY.
// Cost: n_chosen^3 / 3 multiplications, and memory for 2 n_chosen^2 numbers.
agg_err agg_least_squares_fit(agg_least_squares *fit, agg_error *error,
                              const agg_bit_design *design, const size_t *chosen, size_t n_chosen,
                              const double *weights, const double *y) SHOAL_MUST_CHECK;

// Returns: the covariance of the coefficients of chosen[i] and chosen[j], divided by phi; 0 if one
// of them is outside the factor.
double agg_least_squares_covariance(const agg_least_squares *fit, size_t i, size_t j);

// Returns: the coefficient that column j would have in the model with this one column more.
//   j: not chosen
// Cost: n_chosen^2 / 2 multiplications.
agg_least_squares_entry agg_least_squares_enter(agg_least_squares *fit, size_t j);

void agg_least_squares_release(agg_least_squares *fit);

#endif
