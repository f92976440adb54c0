// SPDX-License-Identifier: Apache-2.0
// Computes the noise of a sketch from its own cells; see sfp_noise.h.
#include "sfp_noise.h"

#include <math.h>

static double binomial_variance(double n, double mean)
{
    return mean > 0 && mean < n ? mean * (1 - mean / n) : 0;
}

agg_sfp_noise agg_sfp_noise_of(const shoal_part *part, const agg_sketch *sketch, uint64_t n)
{
    agg_debias debias = {0};
    double cells = 0;
    agg_estimator_of(part->mechanism)->debias(&debias, part, sketch, n);
    for (uint64_t i = 0; i < sketch->n_cells; i++) cells += sketch->cells.ones[i];
    agg_sfp_noise noise = {
        .n = (double)n, .mean = cells / part->m, .scale = debias.scale, .offset = debias.offset};
    double expected = -debias.offset / debias.scale,
           spread = fmax(debias.base, 0) / (debias.scale * debias.scale);
    spread +=
        fmax(binomial_variance(noise.n, noise.mean) - binomial_variance(noise.n, expected), 0);
    noise.spread = sqrt(spread);
    noise.null_error = noise.spread * debias.scale;
    noise.excess = (noise.mean - expected) * debias.scale;
    return noise;
}
