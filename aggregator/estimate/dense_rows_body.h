// SPDX-License-Identifier: Apache-2.0
// The body of dense_rows.h, compiled once a set of instructions; the includer defines
// DENSE_ROWS_VARIANT, the name of the function.
#include "dense_rows.h"

void DENSE_ROWS_VARIANT(double *restrict y, const double *restrict x, size_t stride,
                        const double *restrict weights, size_t n)
{
    const double w[AGG_DENSE_ROWS] = {weights[0], weights[1], weights[2], weights[3],
                                      weights[4], weights[5], weights[6], weights[7]};
    for (size_t j = 0; j < n; j++) {
        double sum = y[j];
        sum -= w[0] * x[j];
        sum -= w[1] * x[stride + j];
        sum -= w[2] * x[2 * stride + j];
        sum -= w[3] * x[3 * stride + j];
        sum -= w[4] * x[4 * stride + j];
        sum -= w[5] * x[5 * stride + j];
        sum -= w[6] * x[6 * stride + j];
        sum -= w[7] * x[7 * stride + j];
        y[j] = sum;
    }
}
