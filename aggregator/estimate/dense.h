// SPDX-License-Identifier: Apache-2.0
// Dense linear algebra of symmetric matrices: Cholesky, Jacobi eigenvalues, inverse, pseudo-inverse
// with its rank. Private to estimate/.
//
// A matrix is n x n doubles, row-major: element (i, j) is a[i * n + j]. Symmetric ones are given
// whole; what reads one triangle says so. Nothing here knows statistics, and nothing uses threads:
// sums run in one order, so that results are the same everywhere to rounding.
#ifndef DENSE_H
#define DENSE_H

#include <stdbool.h>
#include <stddef.h>

#include "agg_error.h"

// An eigenvalue, or a pivot beside its own diagonal, below this share of the largest is rounding:
// there is no such direction.
#define AGG_DENSE_TINY 1e-10

// Replaces the lower triangle of a symmetric positive definite matrix by L with a = L L'; the
// strict upper one is left as it is. Returns: whether every pivot was above AGG_DENSE_TINY of its
// diagonal element; a's lower triangle is spoilt where it was not. Cost: n^3 / 3 multiply-adds.
bool agg_dense_cholesky(double *a, size_t n) SHOAL_MUST_CHECK;

// Writes the whole inverse of L L'.
//   scratch: AGG_DENSE_BLOCK * n
// Cost: n^3 multiply-adds.
#define AGG_DENSE_BLOCK 8u // right-hand sides solved side by side
void agg_dense_cholesky_inverse(double *inverse, double *scratch, const double *factor, size_t n);

// Eigenvalues, descending, and orthonormal eigenvectors of a symmetric matrix by cyclic Jacobi
// rotations. Each eigenvalue is exact to a few 1e-16 of the largest, whatever the matrix's rank.
//   values: n
//   vectors: n x n, row i belongs to values[i]
//   a: read in its upper triangle, then spoilt
// Returns: SHOAL_OK; SHOAL_ERR_RANGE for a matrix with NaN or infinity.
// Cost: about 4 n^3 multiply-adds a sweep, 5 to 12 sweeps: 0.15 s for n = 300, some 10 s for 1,000.
// Source: Golub and Van Loan, Matrix Computations, section 8.5 (4th edition); the small-angle
// formulas are Rutishauser's.
agg_err agg_dense_eigen(double *values, double *vectors, double *a, agg_error *error,
                        size_t n) SHOAL_MUST_CHECK;

// Moore and Penrose's inverse of a symmetric positive semi-definite matrix: eigenvalues above
// AGG_DENSE_TINY of the largest are inverted, the others taken for nothing.
//   inverse: n x n
//   null_space: n x n, may be NULL; its first n - *rank rows are an orthonormal basis of what `a`
//   takes to nothing rank: eigenvalues inverted
// Cost: Cholesky's where the matrix is positive definite, Jacobi's where not; scratch of two
// matrices.
agg_err agg_dense_pseudo_inverse(double *inverse, double *null_space, size_t *rank,
                                 agg_error *error, const double *a, size_t n) SHOAL_MUST_CHECK;

// Returns: x' a y.
double agg_dense_form(const double *x, const double *a, const double *y, size_t n);

#endif
