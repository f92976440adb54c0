// SPDX-License-Identifier: Apache-2.0
// Counts from asymmetric one-hot sums: apple-2022 Appendix A, Algorithm 2.
//
// C of the n records have the bit set. A device that holds the value sets it with probability 1/2, any other with q:
//
//     f = (C - n q) / (1/2 - q),     Var = ( f/4 + (n - f) q (1-q) ) / (1/2 - q)^2
//
// The paper's listing subtracts n/(e^eps - 1); n q/(1/2 - q) is twice that and is what makes the estimate unbiased.
#include "estimator.h"

static shoal_err support(int64_t *sums, agg_error *error, const shoal_part *part, const agg_sketch *sketch,
                         const uint64_t *items, size_t n_items, unsigned n_threads)
{
    (void)n_threads;
    for (size_t i = 0; i < n_items; i++) {
        if (items[i] >= part->m) return agg_fail_core(error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME);
        sums[i] = sketch->cells.ones[items[i]];
    }
    return SHOAL_OK;
}

static void debias(agg_debias *out, const shoal_part *part, const agg_sketch *sketch, uint64_t n)
{
    double q = agg_rare_probability(part), gap = 0.5 - q, reports = (double)n;
    (void)sketch;
    out->scale = 1 / gap;
    out->offset = -reports * q / gap;
    out->base = reports * q * (1 - q) / (gap * gap);
    out->slope = (0.25 - q * (1 - q)) / (gap * gap);
    out->curve = 0;
}

const agg_estimator agg_onehot_asymmetric_estimator = {shoal_onehot_asymmetric_id, support, debias, NULL};
