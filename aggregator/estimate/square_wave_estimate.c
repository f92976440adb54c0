// SPDX-License-Identifier: Apache-2.0
// Estimates the mean of a number from square waves, as place_mean.h. The distribution itself is
// estimated by distribution.h.
#include "estimator.h"
#include "place_mean.h"
#include "square_wave.h"

static void places(agg_place_law *law, const shoal_part *part)
{
    agg_place_law_of(law, part, shoal_square_wave_steps(part));
}

static agg_err counts(agg_count *out, agg_error *error, const shoal_part *part,
                      const agg_sketch *sketch, uint64_t n, const uint64_t *items, size_t n_items,
                      unsigned n_threads)
{
    agg_place_law law;
    (void)error;
    (void)items;
    (void)n_threads;
    places(&law, part);
    agg_place_mean(out, n_items, &law, sketch, n);
    return SHOAL_OK;
}

const agg_estimator agg_square_wave_estimator = {
    .id = shoal_square_wave_id,
    .counts = counts,
    .places = places,
};
