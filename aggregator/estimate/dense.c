// SPDX-License-Identifier: Apache-2.0
// Textbook algorithms for symmetric matrices; see dense.h.
#include "dense.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agg_cpu.h"
#include "agg_size.h"
#include "dense_rows.h"

#define SWEEPS_MAX 60 // Jacobi sweeps; convergence is quadratic, and 12 are many

// Solves the diagonal block of L x = b, from its first row on.
static void solve_block(double *x, const double *factor, size_t n, size_t width)
{
    for (size_t j = 0; j < width; j++) {
        double sum = x[j];
        for (size_t l = 0; l < j; l++) sum -= factor[j * n + l] * x[l];
        x[j] = sum / factor[j * n + j];
    }
}

// Solves it for a row of a whole block, and puts the solution into the block's columns.
//   row, column: of the block's first element, and of the row in L'
static void solve_whole_block(double *row, double *column, const double *factor, size_t n)
{
    double x[AGG_DENSE_ROWS];
#pragma GCC unroll 8
    for (size_t j = 0; j < AGG_DENSE_ROWS; j++) {
        double sum = row[j];
#pragma GCC unroll 8
        for (size_t l = 0; l < j; l++) sum -= factor[j * n + l] * x[l];
        x[j] = row[j] = sum / factor[j * n + j];
    }
    for (size_t j = 0; j < AGG_DENSE_ROWS; j++) column[j * n] = x[j];
}

static size_t block_width(size_t first, size_t n)
{
    return n - first < AGG_DENSE_ROWS ? n - first : AGG_DENSE_ROWS;
}

// Factors the diagonal block from row k on.
//   last: the last element of the diagonal of the matrix that is factored; the others stand at the
//   ends of their rows
static bool factor_block(double *a, size_t n, size_t k, size_t width, double last)
{
    double *block = a + k * n + k;
    for (size_t i = 0; i < width; i++) {
        double *row = block + i * n, sum = row[i];
        double diagonal = k + i + 1 < n ? a[(k + i) * n + n - 1] : last;
        solve_block(row, block, n, i);
        for (size_t l = 0; l < i; l++) sum -= row[l] * row[l];
        if (!(sum > AGG_DENSE_TINY * diagonal && isfinite(sum))) return false;
        row[i] = sqrt(sum);
        for (size_t l = 0; l < i; l++) block[l * n + i] = row[l];
    }
    return true;
}

// Each element is a sum in the order of the columns, as in the textbook. A block of columns is
// subtracted from all rows below it at once, from rows of L', which are contiguous.
bool agg_dense_cholesky(double *a, size_t n)
{
    agg_dense_rows subtract = agg_dense_rows_of(agg_cpu_chosen());
    double last = n > 0 ? a[n * n - 1] : 0;
    // The upper triangle is free until its row is done.
    for (size_t i = 0; i + 1 < n; i++) a[i * n + n - 1] = a[i * n + i];
    for (size_t k = 0; k < n; k += AGG_DENSE_ROWS) {
        size_t width = block_width(k, n), end = k + width;
        if (!factor_block(a, n, k, width, last)) return false;
        for (size_t i = end; i < n; i++) // so the block is a whole one
            solve_whole_block(a + i * n + k, a + k * n + i, a + k * n + k, n);
        for (size_t i = end; i < n; i++)
            subtract(a + i * n + end, a + k * n + end, n, a + i * n + k, i + 1 - end);
    }
    return true;
}

void agg_dense_forward(double *x, const double *factor, size_t n)
{
    agg_dense_rows subtract = agg_dense_rows_of(agg_cpu_chosen());
    for (size_t k = 0; k < n; k += AGG_DENSE_ROWS) {
        size_t width = block_width(k, n), end = k + width;
        solve_block(x + k, factor + k * n + k, n, width);
        if (end < n) subtract(x + end, factor + k * n + end, n, x + k, n - end);
    }
}

void agg_dense_backward(double *x, const double *factor, size_t n)
{
    for (size_t i = n; i-- > 0;) {
        x[i] /= factor[i * n + i];
        for (size_t k = 0; k < i; k++) x[k] -= factor[i * n + k] * x[i];
    }
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
