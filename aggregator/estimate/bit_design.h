// SPDX-License-Identifier: Apache-2.0
// A sparse regression design of zeros and ones, stored by columns. Private to estimate/.
#ifndef BIT_DESIGN_H
#define BIT_DESIGN_H

#include <stddef.h>
#include <stdint.h>

// The ones of column j are in the rows rows[start[j]] .. rows[start[j + 1] - 1], ascending.
typedef struct agg_bit_design {
    size_t n_rows, n_columns;
    const size_t *start;  // n_columns + 1
    const uint32_t *rows; // start[n_columns]
} agg_bit_design;

// Returns: the sum of x over column j's ones.
static inline double agg_bit_design_sum(const agg_bit_design *design, size_t j, const double *x)
{
    double sum = 0;
    for (size_t e = design->start[j]; e < design->start[j + 1]; e++) sum += x[design->rows[e]];
    return sum;
}

#endif
