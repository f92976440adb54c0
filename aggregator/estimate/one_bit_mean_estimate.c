// SPDX-License-Identifier: Apache-2.0
// Estimates the mean of a number from its bits: Ding, Kulkarni, Yekhanin 2017, section 3; Duchi,
// Jordan, Wainwright 2018, section 3.
//
// C of the n records are 1, a share of v = C/n. A device at the fraction u of the range sends 1
// with probability q + u (1 - 2q):
//
//     fraction = (v - q)/(1 - 2q),     Var = v(1 - v) / (n (1 - 2q)^2)
//
// The variance is about a population's mean, for devices drawn from that population. It holds
// whatever the distribution of the numbers, because a bit has no other moment. About the mean of
// these very devices the variance is smaller, by the variance of their numbers over n. One bit
// cannot show that part, so there the error is stated too large, never too small. The true v lies
// in [q, 1 - q]. The variance is taken at a v clamped to that range, so that a few equal answers do
// not pass for certainty.
//
// With rows, item j is the mean of row j, and n is the number of that row's records.
#include <math.h>

#include "estimator.h"
#include "flip_chance.h"

// Estimates the mean from `ones` ones among n records.
static agg_count mean_of(const shoal_part *part, double ones, double n)
{
    double q = agg_rare_probability(part), c = agg_flip_correction(part), reports = n > 0 ? n : 1,
           v = ones / reports;
    double inside = v < q ? q : v > 1 - q ? 1 - q : v;
    return (agg_count){.count = (v - q) * c,
                       .stderr_ = c * sqrt(inside * (1 - inside) / reports),
                       .null_error = c * sqrt(q * (1 - q) / reports)};
}

// A row without a record carries no information: the estimate is the middle of the range, with an
// error as wide as the range.
static agg_count mean_of_row(const shoal_part *part, const uint32_t row[2])
{
    if (row[0] == 0 && row[1] == 0) return (agg_count){.count = 0.5, .stderr_ = 1, .null_error = 1};
    return mean_of(part, row[1], (double)row[0] + row[1]);
}

static agg_err counts(agg_count *out, agg_error *error, const shoal_part *part,
                      const agg_sketch *sketch, uint64_t n, const uint64_t *items, size_t n_items,
                      unsigned n_threads)
{
    (void)n_threads;
    if (sketch->shape.k == 1) {
        agg_count mean = mean_of(part, sketch->cells.ones[0], (double)n);
        for (size_t i = 0; i < n_items; i++) out[i] = mean; // all items of a mean are the same mean
        return SHOAL_OK;
    }
    for (size_t i = 0; i < n_items; i++) {
        if (items[i] >= sketch->shape.k)
            return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME,
                            "there is no row %llu; the sketch has %u", (unsigned long long)items[i],
                            sketch->shape.k);
        out[i] = mean_of_row(part, sketch->cells.ones + 2 * items[i]);
    }
    return SHOAL_OK;
}

const agg_estimator agg_one_bit_mean_estimator = {
    .id = shoal_one_bit_mean_id,
    .counts = counts,
};
