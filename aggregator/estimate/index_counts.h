// SPDX-License-Identifier: Apache-2.0
// Estimates counts from sketches that count, for every value of a list, the reports that support
// it. Private to estimate/.
//
// A report supports the value that its device holds with probability p, and any other value with
// probability q. If C of n reports support a value that f devices hold,
//
//     f = (C - n q) / (p - q),     Var = ( f p (1-p) + (n - f) q (1-q) ) / (p - q)^2
#ifndef INDEX_COUNTS_H
#define INDEX_COUNTS_H

#include "estimator.h"

// Reads the support of item i from cell i; an agg_estimator's `support`.
// Returns: SHOAL_ERR_RANGE for an item that is not below part->size.
static inline agg_err agg_index_support(int64_t *support, agg_error *error, const shoal_part *part,
                                        const agg_sketch *sketch, const uint64_t *items,
                                        size_t n_items, unsigned n_threads)
{
    (void)n_threads;
    for (size_t i = 0; i < n_items; i++) {
        if (items[i] >= part->size) return agg_fail_core(error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME);
        support[i] = sketch->cells.ones[items[i]];
    }
    return SHOAL_OK;
}

// Computes the constants of f and Var above. p - q keeps 14 digits down to epsilon 0.01 if p itself
// is rounded only once.
//   n: reports
static inline void agg_index_debias(agg_debias *out, double n, double p, double q)
{
    double gap = p - q;
    out->scale = 1 / gap;
    out->offset = -n * q / gap;
    out->base = n * q * (1 - q) / (gap * gap);
    out->slope = (p * (1 - p) - q * (1 - q)) / (gap * gap);
    out->curve = 0;
}

#endif
