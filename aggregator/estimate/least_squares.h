// SPDX-License-Identifier: Apache-2.0
// Weighted least squares with an intercept on chosen columns of a design of zeros and ones, with
// covariance. Private to estimate/.
//
// The model is y = b0 + sum over the chosen columns of b_j x_j + error, error of variance phi /
// w_i. The fit is a Cholesky factor of A' W A (A: a column of ones, then the chosen ones in the
// order given), grown column by column: what a column adds to those before it is its pivot. A
// column whose pivot is next to nothing is a combination of earlier ones: it is left out of the
// factor and named, with the columns that it depends on, because the data cannot tell their
// coefficients apart.
#ifndef LEAST_SQUARES_H
#define LEAST_SQUARES_H

#include <stdbool.h>

#include "agg_error.h"
#include "bit_design.h"

typedef struct agg_least_squares {
    const agg_bit_design *design;
    const double *weights, *y; // as given
    size_t n_chosen;
    size_t n_fitted; // independent columns in the factor, the intercept included
    double intercept;
    double *coefficients;   // n_chosen; 0 for a column that is not in the factor
    double *residuals;      // n_rows
    unsigned char *is_tied; // n_chosen: 1 where the coefficient cannot be told from others'
    size_t n_free;          // rows of weight above 0 less n_fitted; 0 where there are fewer
    // below: private
    size_t width;         // n_chosen + 1
    double *factor;       // width * width; row k is column k of the lower Cholesky factor, from the
                          // diagonal on
    double *inverse;      // width * width; row k is row k of the lower factor's inverse
    size_t *position;     // n_chosen + 1: place in the factor; SIZE_MAX for a column left out
    size_t *row_start;    // n_rows + 1
    uint32_t *row_chosen; // the chosen columns that hold a one in a row, ascending
    double *scratch;      // 2 * width
} agg_least_squares;

// What a column outside the model would get if it joined it.
typedef struct agg_least_squares_entry {
    double coefficient;
    double variance; // times phi
    bool is_tied; // a combination of columns in the model (which are then marked is_tied too): the
                  // others say nothing
} agg_least_squares_entry;

// Fits.
//   chosen: n_chosen columns of the design, each once; must outlive the fit, as must design,
//   weights (n_rows, >= 0) and y (n_rows)
// Cost: n_chosen^3 / 3 multiplications and memory for 2 n_chosen^2 numbers.
agg_err agg_least_squares_fit(agg_least_squares *fit, agg_error *error,
                              const agg_bit_design *design, const size_t *chosen, size_t n_chosen,
                              const double *weights, const double *y) SHOAL_MUST_CHECK;

// Returns: the covariance of the coefficients of chosen[i] and chosen[j], times phi; 0 where one of
// them is left out.
double agg_least_squares_covariance(const agg_least_squares *fit, size_t i, size_t j);

// The coefficient that column j, not chosen, would have in the model made larger by it alone. Cost:
// n_chosen^2 / 2.
agg_least_squares_entry agg_least_squares_enter(agg_least_squares *fit, size_t j);

void agg_least_squares_release(agg_least_squares *fit);

#endif
