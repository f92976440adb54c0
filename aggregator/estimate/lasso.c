// SPDX-License-Identifier: Apache-2.0
// Coordinate descent with an active set; see lasso.h.
//
// Columns are centred, x_j - mean_j, but stored sparse. The true residual is r_i = g_i / w_i +
// level. An update of b_j by d subtracts d w_i from g_i at the column's ones and adds d mean_j to
// level. Then sum_i w_i r_i stays 0. The weights of the ones sum to mean_j, so that the slope at
// b_j is
//
//     sum_i w_i x_ij r_i = sum over the ones of g_i + level mean_j
#include "lasso.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"

#define FLAT 1e-12 // a column whose variance is below this share of its mean counts as constant

static agg_err set_weights(agg_lasso *lasso, agg_error *error, const double *weights,
                           const double *y)
{
    double total = 0;
    size_t n = lasso->design->n_rows;
    for (size_t i = 0; i < n; i++) {
        double w = weights == NULL ? 1 : weights[i];
        if (!(w >= 0) || !isfinite(w) || !isfinite(y[i]))
            return agg_fail(
                error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME,
                "row %zu of a regression has a number that is not finite, or a negative weight", i);
        lasso->weights[i] = w;
        total += w;
    }
    if (!(total > 0))
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME,
                        "every row of a regression has weight zero");
    for (size_t i = 0; i < n; i++) lasso->weights[i] /= total;
    return SHOAL_OK;
}

static void set_response(agg_lasso *lasso, const double *y)
{
    double mean = 0;
    size_t n = lasso->design->n_rows;
    for (size_t i = 0; i < n; i++) mean += lasso->weights[i] * y[i];
    if (!lasso->options.has_intercept) mean = 0;
    for (size_t i = 0; i < n; i++) {
        lasso->gradient[i] = lasso->weights[i] * y[i];
        lasso->null_square += lasso->weights[i] * (y[i] - mean) * (y[i] - mean);
    }
    lasso->level = -mean;
    lasso->intercept = mean;
}

static void set_columns(agg_lasso *lasso)
{
    const agg_lasso_options *options = &lasso->options;
    for (size_t j = 0; j < lasso->design->n_columns; j++) {
        double mean = agg_bit_design_sum(lasso->design, j, lasso->weights); // of x and of x^2
        double variance = mean - mean * mean;
        bool is_flat = !(variance > FLAT * mean),
             needs_variance = options->has_intercept || options->standardize;
        lasso->mean[j] = mean;
        lasso->penalty[j] = options->standardize && !is_flat ? sqrt(variance) : 1;
        lasso->curvature[j] = is_flat && needs_variance ? 0
                              : options->has_intercept  ? variance
                                                        : mean;
    }
}

agg_err agg_lasso_init(agg_lasso *lasso, agg_error *error, const agg_bit_design *design,
                       const double *weights, const double *y, const agg_lasso_options *options)
{
    double **const rows[] = {&lasso->weights, &lasso->gradient};
    double **const columns[] = {&lasso->coefficients, &lasso->mean, &lasso->curvature,
                                &lasso->penalty};
    bool is_full = true;
    memset(lasso, 0, sizeof *lasso);
    lasso->design = design;
    lasso->options = *options;
    for (int i = 0; i < 2; i++)
        is_full = is_full && (*rows[i] = agg_alloc(error, design->n_rows, sizeof(double))) != NULL;
    for (int i = 0; i < 4; i++)
        is_full =
            is_full && (*columns[i] = agg_alloc(error, design->n_columns, sizeof(double))) != NULL;
    agg_err err = is_full ? set_weights(lasso, error, weights, y) : AGG_ERR_MEMORY;
    if (err != SHOAL_OK) {
        agg_lasso_release(lasso);
        return err;
    }
    set_response(lasso, y);
    set_columns(lasso);
    return SHOAL_OK;
}

static double slope(const agg_lasso *lasso, size_t j)
{
    return agg_bit_design_sum(lasso->design, j, lasso->gradient) + lasso->level * lasso->mean[j];
}

double agg_lasso_largest(const agg_lasso *lasso)
{
    double largest = 0;
    for (size_t j = 0; j < lasso->design->n_columns; j++) {
        if (lasso->curvature[j] == 0) continue;
        double pull = slope(lasso, j) / lasso->penalty[j];
        if (!lasso->options.is_nonnegative) pull = fabs(pull);
        if (pull > largest) largest = pull;
    }
    return largest;
}

static double shrink(double x, double by, bool is_nonnegative)
{
    if (x > by) return x - by;
    if (!is_nonnegative && x < -by) return x + by;
    return 0;
}

static void move(agg_lasso *lasso, size_t j, double by)
{
    const agg_bit_design *design = lasso->design;
    for (size_t e = design->start[j]; e < design->start[j + 1]; e++)
        lasso->gradient[design->rows[e]] -= by * lasso->weights[design->rows[e]];
    if (lasso->options.has_intercept) lasso->level += by * lasso->mean[j];
    lasso->coefficients[j] += by;
}

// Moves b_j to its optimum given the others.
// Returns: the square of the fit's movement.
static double update(agg_lasso *lasso, size_t j, double lambda)
{
    double old = lasso->coefficients[j], curvature = lasso->curvature[j];
    if (curvature == 0) return 0;
    double goal = slope(lasso, j) + curvature * old;
    double by =
        shrink(goal, lambda * lasso->penalty[j], lasso->options.is_nonnegative) / curvature - old;
    if (by == 0) return 0;
    move(lasso, j, by);
    return curvature * by * by;
}

// Visits every column, or every active one, once.
// Returns: the largest movement.
static double cycle(agg_lasso *lasso, double lambda, bool active_only)
{
    double largest = 0;
    for (size_t j = 0; j < lasso->design->n_columns; j++) {
        if (active_only && lasso->coefficients[j] == 0) continue;
        double moved = update(lasso, j, lambda);
        if (moved > largest) largest = moved;
    }
    return largest;
}

void agg_lasso_solve(agg_lasso *lasso, double lambda)
{
    double enough = lasso->options.tolerance * lasso->null_square;
    unsigned left = lasso->options.max_cycles;
    lasso->has_converged = false;
    // Cycles over the active columns until they rest, then over all. The solution is found when a
    // cycle over all columns moves nothing.
    while (left > 0 && !lasso->has_converged) {
        left--;
        if (cycle(lasso, lambda, false) <= enough) lasso->has_converged = true;
        while (!lasso->has_converged && left > 0 && cycle(lasso, lambda, true) > enough) left--;
    }
    lasso->intercept = -lasso->level;
    lasso->n_active = 0;
    for (size_t j = 0; j < lasso->design->n_columns; j++)
        lasso->n_active += lasso->coefficients[j] != 0;
}

void agg_lasso_release(agg_lasso *lasso)
{
    free(lasso->coefficients);
    free(lasso->weights);
    free(lasso->gradient);
    free(lasso->mean);
    free(lasso->curvature);
    free(lasso->penalty);
    memset(lasso, 0, sizeof *lasso);
}
