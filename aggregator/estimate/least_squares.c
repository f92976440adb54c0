// SPDX-License-Identifier: Apache-2.0
// Least squares by a Cholesky factor that grows column by column; see least_squares.h.
#include "least_squares.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"

#define TIED 1e-9       // a pivot below this share of the column's own square counts as zero
#define TAKES_PART 1e-6 // a share of another column below this counts as zero
#define LEFT_OUT SIZE_MAX

static agg_err allocate(agg_least_squares *fit, agg_error *error)
{
    size_t n_rows = fit->design->n_rows, cells;
    if (!agg_size_multiply(&cells, fit->width, fit->width))
        return agg_fail_core(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME);
    fit->coefficients = agg_alloc(error, fit->n_chosen, sizeof *fit->coefficients);
    fit->is_tied = agg_alloc(error, fit->n_chosen, sizeof *fit->is_tied);
    fit->residuals = agg_alloc(error, n_rows, sizeof *fit->residuals);
    fit->factor = agg_alloc(error, cells, sizeof *fit->factor);
    fit->inverse = agg_alloc(error, cells, sizeof *fit->inverse);
    fit->position = agg_alloc(error, fit->width, sizeof *fit->position);
    fit->row_start = agg_alloc(error, n_rows + 1, sizeof *fit->row_start);
    fit->scratch = agg_alloc(error, 2 * fit->width, sizeof *fit->scratch);
    bool is_full = fit->coefficients != NULL && fit->is_tied != NULL && fit->residuals != NULL &&
                   fit->factor != NULL && fit->inverse != NULL && fit->position != NULL &&
                   fit->row_start != NULL && fit->scratch != NULL;
    return is_full ? SHOAL_OK : AGG_ERR_MEMORY;
}

// Lists the chosen columns by row.
static agg_err list_rows(agg_least_squares *fit, agg_error *error, const size_t *chosen)
{
    const agg_bit_design *d = fit->design;
    size_t n_rows = d->n_rows;
    for (size_t c = 0; c < fit->n_chosen; c++)
        for (size_t e = d->start[chosen[c]]; e < d->start[chosen[c] + 1]; e++)
            fit->row_start[d->rows[e] + 1]++;
    for (size_t i = 0; i < n_rows; i++) fit->row_start[i + 1] += fit->row_start[i];
    fit->row_chosen = agg_alloc(error, fit->row_start[n_rows], sizeof *fit->row_chosen);
    size_t *next = agg_alloc(error, n_rows, sizeof *next);
    if (fit->row_chosen == NULL || next == NULL) {
        free(next);
        return AGG_ERR_MEMORY;
    }
    memcpy(next, fit->row_start, n_rows * sizeof *next);
    for (size_t c = 0; c < fit->n_chosen; c++)
        for (size_t e = d->start[chosen[c]]; e < d->start[chosen[c] + 1]; e++)
            fit->row_chosen[next[d->rows[e]]++] = (uint32_t)c;
    free(next);
    return SHOAL_OK;
}

// Computes z = L^-1 A' W x for the design's column j and the first n_fitted columns of the factor.
// Returns: x' W x, which exceeds z' z by the pivot.
static double project(const agg_least_squares *fit, double *z, size_t j)
{
    const agg_bit_design *d = fit->design;
    double square = 0;
    memset(z, 0, fit->n_fitted * sizeof *z);
    for (size_t e = d->start[j]; e < d->start[j + 1]; e++) {
        size_t i = d->rows[e];
        double w = fit->weights[i];
        square += w;
        for (size_t r = fit->row_start[i]; r < fit->row_start[i + 1]; r++) {
            size_t place = fit->position[fit->row_chosen[r] + 1];
            if (place < fit->n_fitted) z[place] += w;
        }
    }
    z[0] = square; // the column of ones
    for (size_t k = 0; k < fit->n_fitted; k++) {
        const double *column = fit->factor + k * fit->width;
        z[k] /= column[k];
        for (size_t i = k + 1; i < fit->n_fitted; i++) z[i] -= column[i] * z[k];
    }
    return square;
}

static double pivot_of(const agg_least_squares *fit, const double *z, double square)
{
    double pivot = square;
    for (size_t k = 0; k < fit->n_fitted; k++) pivot -= z[k] * z[k];
    return pivot;
}

// Marks the chosen columns in the combination z = L^-1 A' W x: x = A c with L' c = z.
static void mark_tied(agg_least_squares *fit, const double *z)
{
    double *share = fit->scratch + fit->width;
    for (size_t k = fit->n_fitted; k-- > 0;) {
        const double *column = fit->factor + k * fit->width;
        double rest = z[k];
        for (size_t i = k + 1; i < fit->n_fitted; i++) rest -= column[i] * share[i];
        share[k] = rest / column[k];
    }
    for (size_t c = 0; c < fit->n_chosen; c++) {
        size_t place = fit->position[c + 1];
        if (place < fit->n_fitted && fabs(share[place]) > TAKES_PART) fit->is_tied[c] = true;
    }
}

static void append(agg_least_squares *fit, size_t c, const double *z, double pivot)
{
    for (size_t k = 0; k < fit->n_fitted; k++) fit->factor[k * fit->width + fit->n_fitted] = z[k];
    fit->factor[fit->n_fitted * fit->width + fit->n_fitted] = sqrt(pivot);
    fit->position[c] = fit->n_fitted++;
}

static void factorise(agg_least_squares *fit, const size_t *chosen, double total_weight)
{
    double *z = fit->scratch;
    for (size_t c = 0; c <= fit->n_chosen; c++) fit->position[c] = LEFT_OUT;
    append(fit, 0, z, total_weight);
    for (size_t c = 0; c < fit->n_chosen; c++) {
        double square = project(fit, z, chosen[c]), pivot = pivot_of(fit, z, square);
        if (pivot > TIED * square) {
            append(fit, c + 1, z, pivot);
        } else {
            fit->is_tied[c] = true;
            mark_tied(fit, z);
        }
    }
}

// Computes L^-1 by forward substitution of the identity's columns, with contiguous rows.
static void invert(agg_least_squares *fit)
{
    size_t n = fit->n_fitted, width = fit->width;
    for (size_t k = 0; k < n; k++) {
        double *row = fit->inverse + k * width, scale = 1 / fit->factor[k * width + k];
        for (size_t i = 0; i < k; i++)
            row[i] *= scale; // it contains minus the sum of the rows above
        row[k] = scale;
        for (size_t below = k + 1; below < n; below++) {
            double *other = fit->inverse + below * width, share = fit->factor[k * width + below];
            if (share == 0) continue;
            for (size_t i = 0; i <= k; i++) other[i] -= share * row[i];
        }
    }
}

// Computes the coefficients, (A' W A)^-1 A' W y with the inverse as L^-T L^-1.
static void solve(agg_least_squares *fit, const size_t *chosen)
{
    const agg_bit_design *d = fit->design;
    size_t n = fit->n_fitted, width = fit->width;
    double *right = fit->scratch, *answer = fit->scratch + width;
    memset(right, 0, 2 * width * sizeof *right);
    for (size_t i = 0; i < d->n_rows; i++) {
        fit->residuals[i] = fit->weights[i] * fit->y[i];
        right[0] += fit->residuals[i];
    }
    for (size_t c = 0; c < fit->n_chosen; c++)
        if (fit->position[c + 1] != LEFT_OUT)
            right[fit->position[c + 1]] = agg_bit_design_sum(d, chosen[c], fit->residuals);
    for (size_t k = 0; k < n; k++) {
        const double *row = fit->inverse + k * width;
        double part = 0;
        for (size_t i = 0; i <= k; i++) part += row[i] * right[i];
        for (size_t i = 0; i <= k; i++) answer[i] += row[i] * part;
    }
    fit->intercept = answer[0];
    for (size_t c = 0; c < fit->n_chosen; c++)
        if (fit->position[c + 1] != LEFT_OUT) fit->coefficients[c] = answer[fit->position[c + 1]];
}

static void take_residuals(agg_least_squares *fit)
{
    size_t n_used = 0;
    for (size_t i = 0; i < fit->design->n_rows; i++) {
        double r = fit->y[i] - fit->intercept;
        for (size_t e = fit->row_start[i]; e < fit->row_start[i + 1]; e++)
            r -= fit->coefficients[fit->row_chosen[e]];
        fit->residuals[i] = r;
        n_used += fit->weights[i] > 0;
    }
    fit->n_free = n_used > fit->n_fitted ? n_used - fit->n_fitted : 0;
}

agg_err agg_least_squares_fit(agg_least_squares *fit, agg_error *error,
                              const agg_bit_design *design, const size_t *chosen, size_t n_chosen,
                              const double *weights, const double *y)
{
    double total = 0;
    memset(fit, 0, sizeof *fit);
    for (size_t i = 0; i < design->n_rows; i++) total += weights[i];
    if (!(total > 0))
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME,
                        "every row of a regression has weight zero");
    fit->design = design;
    fit->weights = weights;
    fit->y = y;
    fit->n_chosen = n_chosen;
    fit->width = n_chosen + 1;
    agg_err err = allocate(fit, error);
    if (err == SHOAL_OK) err = list_rows(fit, error, chosen);
    if (err != SHOAL_OK) {
        agg_least_squares_release(fit);
        return err;
    }
    factorise(fit, chosen, total);
    invert(fit);
    solve(fit, chosen);
    take_residuals(fit);
    return SHOAL_OK;
}

double agg_least_squares_covariance(const agg_least_squares *fit, size_t i, size_t j)
{
    size_t a = fit->position[i + 1], b = fit->position[j + 1];
    double sum = 0;
    if (a == LEFT_OUT || b == LEFT_OUT) return 0;
    for (size_t k = a > b ? a : b; k < fit->n_fitted; k++)
        sum += fit->inverse[k * fit->width + a] * fit->inverse[k * fit->width + b];
    return sum;
}

agg_least_squares_entry agg_least_squares_enter(agg_least_squares *fit, size_t j)
{
    const agg_bit_design *d = fit->design;
    agg_least_squares_entry entry = {0, 0, 0};
    double *z = fit->scratch, slope = 0;
    double square = project(fit, z, j), pivot = pivot_of(fit, z, square);
    if (!(pivot > TIED * square)) {
        entry.is_tied = true;
        mark_tied(fit, z);
        return entry;
    }
    for (size_t e = d->start[j]; e < d->start[j + 1]; e++)
        slope += fit->weights[d->rows[e]] * fit->residuals[d->rows[e]];
    entry.coefficient = slope / pivot;
    entry.variance = 1 / pivot;
    return entry;
}

void agg_least_squares_release(agg_least_squares *fit)
{
    free(fit->coefficients);
    free(fit->is_tied);
    free(fit->residuals);
    free(fit->factor);
    free(fit->inverse);
    free(fit->position);
    free(fit->row_start);
    free(fit->row_chosen);
    free(fit->scratch);
    memset(fit, 0, sizeof *fit);
}
