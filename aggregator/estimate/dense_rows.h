// SPDX-License-Identifier: Apache-2.0
// The inner loop of Cholesky factors and of triangular systems. Private to estimate/.
#ifndef DENSE_ROWS_H
#define DENSE_ROWS_H

#include <stddef.h>

#include "agg_cpu.h"

#define AGG_DENSE_ROWS 8u

// Subtracts rows from y, one after the other: y_j -= weights_r x_(r stride + j), for r = 0 .. 7 and
// j < n. Each y_j is a sum in the order of r, and not fused, so that every variant gives the same
// bits.
//   y: overlaps neither x nor weights
typedef void (*agg_dense_rows)(double *restrict y, const double *restrict x, size_t stride,
                               const double *restrict weights, size_t n);

void agg_dense_rows_portable(double *restrict y, const double *restrict x, size_t stride,
                             const double *restrict weights, size_t n);
void agg_dense_rows_avx2(double *restrict y, const double *restrict x, size_t stride,
                         const double *restrict weights, size_t n);
void agg_dense_rows_avx512(double *restrict y, const double *restrict x, size_t stride,
                           const double *restrict weights, size_t n);

// Returns: the variant for a set of instructions.
agg_dense_rows agg_dense_rows_of(agg_cpu cpu);

#endif
