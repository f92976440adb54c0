// SPDX-License-Identifier: Apache-2.0
// The mean of a number from its bits: Ding, Kulkarni, Yekhanin 2017, section 3; Duchi, Jordan, Wainwright 2018, section 3.
//
// C of the n records are 1, v = C/n of them. A device at the fraction u of the range sends 1 with probability q + u (1 - 2q):
//
//     fraction = (v - q)/(1 - 2q),     Var = v(1 - v) / (n (1 - 2q)^2)
//
// The variance is that of devices drawn from a population, about the population's mean, whatever the distribution of the numbers: a
// bit has no other moment. About the mean of these very devices it is smaller by the variance of their numbers over n, which one bit
// cannot tell; there the error is stated too large, never too small. The true v lies in [q, 1 - q] and so does the one that the
// variance is taken at, lest a few equal answers pass for certainty.
#include <math.h>

#include "estimator.h"

static shoal_err counts(agg_count *out, agg_error *error, const shoal_part *part, const agg_sketch *sketch, uint64_t n,
                        const uint64_t *items, size_t n_items, unsigned n_threads)
{
    (void)error;
    (void)items; // every row of a mean is the mean
    (void)n_threads;
    double q = agg_rare_probability(part), c = agg_flip_correction(part), reports = n > 0 ? (double)n : 1;
    double v = (double)sketch->cells.ones[0] / reports;
    double inside = v < q ? q : v > 1 - q ? 1 - q : v;
    agg_count mean = {(v - q) * c, c * sqrt(inside * (1 - inside) / reports), c * sqrt(q * (1 - q) / reports), 0};
    for (size_t i = 0; i < n_items; i++) out[i] = mean;
    return SHOAL_OK;
}

const agg_estimator agg_one_bit_mean_estimator = {shoal_one_bit_mean_id, NULL, NULL, counts};
