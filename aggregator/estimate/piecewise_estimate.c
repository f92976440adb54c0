// SPDX-License-Identifier: Apache-2.0
// Estimates the mean of a number from piecewise answers: place_mean.h, and Wang et al. 2019,
// section 3.
#include "estimator.h"
#include "piecewise_law.h"
#include "place_mean.h"

static agg_err counts(agg_count *out, agg_error *error, const shoal_part *part,
                      const agg_sketch *sketch, uint64_t n, const uint64_t *items, size_t n_items,
                      unsigned n_threads)
{
    agg_place_law law;
    (void)error;
    (void)items;
    (void)n_threads;
    agg_piecewise_law_of(&law, part);
    agg_place_mean(out, n_items, &law, sketch, n);
    return SHOAL_OK;
}

const agg_estimator agg_piecewise_estimator = {
    .id = shoal_piecewise_id,
    .counts = counts,
};
