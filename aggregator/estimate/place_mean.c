// SPDX-License-Identifier: Apache-2.0
// Computes means from places and bits; see place_mean.h.
//
// Every answer is worth z, whose expectation is the device's fraction of the range
// (piecewise_law.h):
//
//     fraction = mean of z,     Var = s^2/n,     s^2 = sum (z - fraction)^2/(n - 1)
//
// The variance is about a population's mean, for devices drawn from that population, as that of
// one_bit_mean_estimate.c. It holds whatever the distribution of the numbers, by the central limit
// theorem. About the mean of these very devices the variance is smaller, by the variance of their
// numbers over n.
//
// s^2 is never taken to be below the variance of a crowd whose numbers all equal the mean. So a few
// equal answers do not pass for certainty, nor do many that lack the rare answers of a large
// epsilon. No crowd with that mean has a smaller variance, since E[z^2] is convex in the number.
// For crowds of one number, the larger of the two is too large by a part of the error of s^2.
#include "place_mean.h"

#include <math.h>

// Returns: the variance of one answer's worth.
static double variance_of(const agg_place_law *law, const agg_sketch *sketch, double n, double mean)
{
    double sum = 0,
           inside = mean < 0   ? 0
                    : mean > 1 ? 1
                               : mean,
           least = agg_place_variance(law, inside);
    for (uint32_t i = 0; i < sketch->shape.m; i++) {
        double off = agg_place_worth(law, i) - mean;
        sum += sketch->cells.ones[i] * off * off;
    }
    return n > 1 ? fmax(sum / (n - 1), least) : least;
}

void agg_place_mean(agg_count *counts, size_t n_counts, const agg_place_law *law,
                    const agg_sketch *sketch, uint64_t n)
{
    double sum = 0, reports = n > 0 ? (double)n : 1;
    for (uint32_t i = 0; i < sketch->shape.m; i++)
        sum += sketch->cells.ones[i] * agg_place_worth(law, i);
    double mean = sum / reports, variance = variance_of(law, sketch, reports, mean);
    for (size_t i = 0; i < n_counts; i++)
        counts[i] = (agg_count){.count = mean,
                                .stderr_ = sqrt(variance / reports),
                                .null_error = sqrt(agg_place_variance(law, 0) / reports)};
}
