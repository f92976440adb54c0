// SPDX-License-Identifier: Apache-2.0
// Textbook algorithms for symmetric matrices; see dense.h.
#include "dense.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"

#define SWEEPS_MAX 60 // Jacobi sweeps; convergence is quadratic, and 12 are many

// Computes four elements of a row at once, from column j on. Each is the same sum in the same order
// as alone; side by side they need not wait for one another.
static void four_elements(double *row, const double *a, size_t n, size_t j)
{
    const double *other[4] = {a + j * n, a + (j + 1) * n, a + (j + 2) * n, a + (j + 3) * n};
    double sum[4] = {row[j], row[j + 1], row[j + 2], row[j + 3]};
    for (size_t k = 0; k < j; k++)
        for (int c = 0; c < 4; c++) sum[c] -= row[k] * other[c][k];
    for (size_t c = 0; c < 4; c++) {
        for (size_t k = j; k < j + c; k++) sum[c] -= row[k] * other[c][k];
        row[j + c] = sum[c] / other[c][j + c];
    }
}

bool agg_dense_cholesky(double *a, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double *row = a + i * n, diagonal = row[i];
        size_t j = 0;
        for (; j + 4 <= i; j += 4) four_elements(row, a, n, j);
        for (; j <= i; j++) {
            const double *other = a + j * n;
            double sum = row[j];
            for (size_t k = 0; k < j; k++) sum -= row[k] * other[k];
            if (j < i)
                row[j] = sum / other[j];
            else if (sum > AGG_DENSE_TINY * diagonal && isfinite(sum))
                row[i] = sqrt(sum);
            else
                return false;
        }
    }
    return true;
}

// Solves L L' x = b for `width` right-hand sides at once.
//   x: n rows of `width`; b on entry, the solution on return
//   first: the rows of b before it are zeros
static void solve_some(double *x, const double *factor, size_t n, size_t width, size_t first)
{
    for (size_t i = first; i < n; i++) {
        const double *row = factor + i * n;
        double *to = x + i * width, scale = 1 / row[i];
        for (size_t k = first; k < i; k++)
            for (size_t c = 0; c < width; c++) to[c] -= row[k] * x[k * width + c];
        for (size_t c = 0; c < width; c++) to[c] *= scale;
    }
    for (size_t i = n; i-- > 0;) {
        const double *row = factor + i * n;
        double *from = x + i * width, scale = 1 / row[i];
        for (size_t c = 0; c < width; c++) from[c] *= scale;
        for (size_t k = 0; k < i; k++)
            for (size_t c = 0; c < width; c++) x[k * width + c] -= row[k] * from[c];
    }
}

void agg_dense_cholesky_inverse(double *inverse, double *scratch, const double *factor, size_t n)
{
    for (size_t first = 0; first < n; first += AGG_DENSE_BLOCK) {
        size_t width = n - first < AGG_DENSE_BLOCK ? n - first : AGG_DENSE_BLOCK;
        memset(scratch, 0, n * width * sizeof *scratch);
        for (size_t c = 0; c < width; c++) scratch[(first + c) * width + c] = 1;
        solve_some(scratch, factor, n, width, first);
        // Copies these columns from the diagonal on; symmetry gives the rest.
        for (size_t i = first; i < n; i++)
            for (size_t c = 0; c < width && first + c <= i; c++)
                inverse[i * n + first + c] = inverse[(first + c) * n + i] = scratch[i * width + c];
    }
}

static double largest_element(const double *a, size_t n)
{
    double largest = 0;
    for (size_t i = 0; i < n * n; i++) largest = fmax(largest, fabs(a[i]));
    return largest;
}

// Makes element (p, q) of the upper triangle zero by a rotation of rows and columns p < q, and
// rotates the vectors likewise.
static void rotate(double *a, double *vectors, size_t n, size_t p, size_t q)
{
    double *row_p = a + p * n, *row_q = a + q * n, element = row_p[q];
    double theta = (row_q[q] - row_p[p]) / (2 * element);
    double t = copysign(1 / (fabs(theta) + sqrt(theta * theta + 1)),
                        theta); // tangent of the smaller angle
    double c = 1 / sqrt(t * t + 1), s = t * c;
    row_p[p] -= t * element;
    row_q[q] += t * element;
    row_p[q] = 0;
    for (size_t k = 0; k < p; k++) {
        double x = a[k * n + p], y = a[k * n + q];
        a[k * n + p] = c * x - s * y;
        a[k * n + q] = s * x + c * y;
    }
    for (size_t k = p + 1; k < q; k++) {
        double x = row_p[k], y = a[k * n + q];
        row_p[k] = c * x - s * y;
        a[k * n + q] = s * x + c * y;
    }
    for (size_t k = q + 1; k < n; k++) {
        double x = row_p[k], y = row_q[k];
        row_p[k] = c * x - s * y;
        row_q[k] = s * x + c * y;
    }
    double *vector_p = vectors + p * n, *vector_q = vectors + q * n;
    for (size_t k = 0; k < n; k++) {
        double x = vector_p[k], y = vector_q[k];
        vector_p[k] = c * x - s * y;
        vector_q[k] = s * x + c * y;
    }
}

// Rotates every element that is above `negligible`.
// Returns: the number of rotations.
static size_t sweep(double *a, double *vectors, size_t n, double negligible)
{
    size_t n_rotations = 0;
    for (size_t p = 0; p + 1 < n; p++)
        for (size_t q = p + 1; q < n; q++)
            if (fabs(a[p * n + q]) > negligible) {
                rotate(a, vectors, n, p, q);
                n_rotations++;
            }
    return n_rotations;
}

static void swap_rows(double *a, size_t n, size_t i, size_t j)
{
    for (size_t k = 0; k < n; k++) {
        double kept = a[i * n + k];
        a[i * n + k] = a[j * n + k];
        a[j * n + k] = kept;
    }
}

agg_err agg_dense_eigen(double *values, double *vectors, double *a, agg_error *error, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n * n; i++) sum += fabs(a[i]);
    if (!isfinite(sum))
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME, "a matrix has no finite values");
    memset(vectors, 0, n * n * sizeof *vectors);
    for (size_t i = 0; i < n; i++) vectors[i * n + i] = 1;
    // The elements that are left move no eigenvalue by more than the last digit of the largest.
    double negligible = largest_element(a, n) * DBL_EPSILON / 64;
    for (int i = 0; i < SWEEPS_MAX && sweep(a, vectors, n, negligible) > 0; i++) continue;
    for (size_t i = 0; i < n; i++) values[i] = a[i * n + i];
    for (size_t i = 0; i + 1 < n; i++) {
        size_t best = i;
        for (size_t j = i + 1; j < n; j++)
            if (values[j] > values[best]) best = j;
        if (best == i) continue;
        double kept = values[i];
        values[i] = values[best];
        values[best] = kept;
        swap_rows(vectors, n, i, best);
    }
    return SHOAL_OK;
}

// Inverts a singular matrix.
//   scratch: two matrices and n numbers
static agg_err invert_by_eigen(double *inverse, double *null_space, size_t *rank, agg_error *error,
                               double *scratch, const double *a, size_t n)
{
    double *spoilt = scratch, *vectors = scratch + n * n, *values = scratch + 2 * n * n;
    memcpy(spoilt, a, n * n * sizeof *a);
    agg_err err = agg_dense_eigen(values, vectors, spoilt, error, n);
    if (err != SHOAL_OK) return err;
    size_t r = 0;
    while (r < n && values[r] > 0 && values[r] > AGG_DENSE_TINY * values[0]) r++;
    memset(inverse, 0, n * n * sizeof *inverse);
    for (size_t v = 0; v < r; v++) {
        const double *vector = vectors + v * n;
        for (size_t i = 0; i < n; i++) {
            double share = vector[i] / values[v];
            for (size_t j = 0; j < n; j++) inverse[i * n + j] += share * vector[j];
        }
    }
    if (null_space != NULL) memcpy(null_space, vectors + r * n, (n - r) * n * sizeof *null_space);
    *rank = r;
    return SHOAL_OK;
}

agg_err agg_dense_pseudo_inverse(double *inverse, double *null_space, size_t *rank,
                                 agg_error *error, const double *a, size_t n)
{
    size_t square;
    if (!agg_size_multiply(&square, n, n) || square > SIZE_MAX / 4 - AGG_DENSE_BLOCK * n)
        return agg_fail_core(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME);
    double *scratch = agg_alloc(error, 2 * square + AGG_DENSE_BLOCK * n, sizeof *scratch);
    if (scratch == NULL) return AGG_ERR_MEMORY;
    agg_err err = SHOAL_OK;
    memcpy(scratch, a, square * sizeof *a);
    if (agg_dense_cholesky(scratch, n)) {
        agg_dense_cholesky_inverse(inverse, scratch + square, scratch, n);
        *rank = n;
    } else {
        err = invert_by_eigen(inverse, null_space, rank, error, scratch, a, n);
    }
    free(scratch);
    return err;
}

double agg_dense_form(const double *x, const double *a, const double *y, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double part = 0;
        for (size_t j = 0; j < n; j++) part += a[i * n + j] * y[j];
        sum += x[i] * part;
    }
    return sum;
}
