// SPDX-License-Identifier: Apache-2.0
// Dense linear algebra of symmetric matrices: Cholesky factors, Jacobi eigenvalues, inverses, and
// pseudo-inverses with their rank. Private to estimate/.
//
// A matrix is n x n doubles, row-major: element (i, j) is a[i * n + j]. A symmetric matrix is given
// whole unless a function says which triangle it reads. Nothing uses threads: sums run in one
// order, so that results agree everywhere up to rounding.
#ifndef DENSE_H
#define DENSE_H

#include <stdbool.h>
#include <stddef.h>

#include "agg_error.h"

// An eigenvalue below this share of the largest, or a pivot below this share of its own diagonal
// element, counts as zero.
#define AGG_DENSE_TINY 1e-10

// Replaces a symmetric positive definite matrix by its factor L, a = L L': L on and below the
// diagonal, and L' above it. The lower triangle of a is read. Returns: false, with the matrix
// undefined, if a pivot is not above AGG_DENSE_TINY of its diagonal element. Cost: n^3 / 6
// multiply-adds.
bool agg_dense_cholesky(double *a, size_t n) SHOAL_MUST_CHECK;

// Solves L x = b, and L' x = b, in place.
//   factor: of agg_dense_cholesky
void agg_dense_forward(double *x, const double *factor, size_t n);
void agg_dense_backward(double *x, const double *factor, size_t n);

#define AGG_DENSE_BLOCK 8u // right-hand sides that are solved at once

// Computes the whole inverse of L L'.
//   inverse: n x n
//   scratch: AGG_DENSE_BLOCK * n
//   factor: L in the lower triangle, of agg_dense_cholesky
// Cost: n^3 multiply-adds.
void agg_dense_cholesky_inverse(double *inverse, double *scratch, const double *factor, size_t n);

// Computes the eigenvalues and orthonormal eigenvectors of a symmetric matrix by cyclic Jacobi
// rotations. Each eigenvalue is exact to a few 1e-16 of the largest, whatever the matrix's rank.
//   values: n, descending
//   vectors: n x n, row i belongs to values[i]
//   a: its upper triangle is read, and then undefined
// Returns: SHOAL_ERR_RANGE for a matrix with NaN or infinity.
// Cost: about 4 n^3 multiply-adds a sweep, 5 to 12 sweeps: 0.15 s for n = 300, some 10 s for 1,000.
// Source: Golub and Van Loan, Matrix Computations, section 8.5 (4th edition); the small-angle
// formulas are Rutishauser's.
agg_err agg_dense_eigen(double *values, double *vectors, double *a, agg_error *error,
                        size_t n) SHOAL_MUST_CHECK;

// Computes the Moore-Penrose inverse of a symmetric positive semi-definite matrix. Eigenvalues up
// to AGG_DENSE_TINY of the largest count as zero.
//   inverse: n x n
//   null_space: n x n, may be NULL; its first n - *rank rows become an orthonormal basis of the
//     null space of `a`
//   rank: set to the number of eigenvalues above zero
// Cost: that of Cholesky's inverse for a positive definite matrix, else of Jacobi's eigenvalues;
// memory for two matrices.
agg_err agg_dense_pseudo_inverse(double *inverse, double *null_space, size_t *rank,
                                 agg_error *error, const double *a, size_t n) SHOAL_MUST_CHECK;

// Returns: x' a y.
double agg_dense_form(const double *x, const double *a, const double *y, size_t n);

#endif
