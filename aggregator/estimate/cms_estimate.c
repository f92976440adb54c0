// SPDX-License-Identifier: Apache-2.0
// Estimates counts from a Count Mean Sketch: apple-2017 Algorithm 4, with the variance of the
// estimator as it is computed here.
//
// A(d) is the number of ones in d's cells. With q the probability of a flip and c = 1/(1 - 2q),
//
//     f = m/(m-1) ( c (A - n/2) + n/2 - n/m )
//     Var = (m/(m-1))^2 ( n c^2 q (1-q) + (n - f) s + (s/k)(Q - f^2 + f) ),     s = (1/m)(1 - 1/m)
//
// This is Theorem 4.2 without its bound's slack: c^2 q (1-q) = e^(eps/2)/(e^(eps/2) - 1)^2.
// mean_sketch.h explains s and Q.
#include <string.h>

#include "estimator.h"
#include "flip_chance.h"
#include "joint_marks.h"
#include "mean_sketch.h"
#include "whole_domain.h"

#define BLOCK ((size_t)16384) // items whose points and sums stay in the second-level cache

static void row_values(int32_t *values, const agg_sketch *sketch, uint32_t j)
{
    memcpy(values, sketch->cells.ones + (size_t)j * sketch->shape.m,
           sketch->shape.m * sizeof *values);
}

static agg_err support(int64_t *sums, agg_error *error, const shoal_part *part,
                       const agg_sketch *sketch, const uint64_t *items, size_t n_items,
                       unsigned n_threads)
{
    return agg_sketch_support(sums, error, part, sketch, row_values, items, n_items, BLOCK,
                              n_threads);
}

// Returns: the number of ordered pairs of different devices in the same cell. It is the sum of Y^2
// less each device's own y^2. y = c (b - 1/2) + 1/2 is a bit without its flip's bias, and Y is the
// sum of a row's y in one column.
static double count_pairs(const agg_sketch *sketch, double c)
{
    double squares = 0, ones = 0, bits = 0;
    double of_one = (1 + c) / 2, of_zero = (1 - c) / 2;
    uint32_t m = sketch->shape.m;
    for (uint32_t j = 0; j < sketch->shape.k; j++) {
        const uint32_t *row = sketch->cells.ones + (size_t)j * m;
        double n_row = sketch->rows[j], of_row = 0;
        if (sketch->rows[j] == 0) continue;
        uint64_t ones_of_row = 0;
        for (uint32_t l = 0; l < m; l++) {
            double y = c * (row[l] - n_row / 2) + n_row / 2;
            of_row += y * y;
            ones_of_row += row[l];
        }
        squares += of_row;
        ones += (double)ones_of_row;
        bits += n_row * m;
    }
    return squares - ones * of_one * of_one - (bits - ones) * of_zero * of_zero;
}

static void debias(agg_debias *out, const shoal_part *part, const agg_sketch *sketch, uint64_t n)
{
    double q = agg_rare_probability(part), c = agg_flip_correction(part);
    agg_mean_sketch s = agg_mean_sketch_of(n, part->k, part->m, c);
    double same = agg_mean_sketch_pairs(&s, count_pairs(sketch, c));
    double square = s.stretch * s.stretch;
    out->scale = s.stretch * c;
    out->offset = s.stretch * (s.n / 2 - s.n / s.m - c * s.n / 2);
    out->pairs = square * s.spread / s.k * same;
    out->base = square * (s.n * c * c * q * (1 - q) + s.n * s.spread + s.spread / s.k * same);
    out->slope = square * (s.spread / s.k - s.spread);
    out->curve = -square * s.spread / s.k;
}

// Returns: what a report adds to `pairs` with itself on average. Its own bit has mean 1 and the
// others mean 0 after the coins' bias is taken off, and each has the variance of a flip.
static double own_pairs(double c, double q, double m)
{
    return 1 - 1 / m + m * c * c * q * (1 - q);
}

static double pairs(const shoal_part *a, const agg_sketch *x, uint64_t n, const shoal_part *b,
                    const agg_sketch *y)
{
    double c = agg_flip_correction(a), c_b = y == NULL ? c : agg_flip_correction(b), sum = 0;
    for (uint32_t j = 0; j < a->k; j++) {
        const uint32_t *of_x = x->cells.ones + (size_t)j * a->m,
                       *of_y = y == NULL ? of_x : y->cells.ones + (size_t)j * a->m;
        double n_x = x->rows[j], n_y = y == NULL ? n_x : y->rows[j], share = 1.0 / a->m;
        if (n_x <= 0 || n_y <= 0) continue;
        for (uint32_t l = 0; l < a->m; l++)
            sum += (c * (of_x[l] - n_x / 2) + n_x * (0.5 - share)) *
                   (c_b * (of_y[l] - n_y / 2) + n_y * (0.5 - share));
    }
    return y == NULL ? sum - (double)n * own_pairs(c, agg_rare_probability(a), a->m) : sum;
}

static const agg_joint_marks marks = {
    .columns = AGG_JOINT_APART,
    .set_coins = agg_marks_flipped_bits,
    .row = agg_marks_first_word,
    .is_marked = agg_marks_is_bit_of_row,
    .sum_marked = agg_marks_sum_bits_of_row,
    .row_shares = agg_marks_shares_of_ones,
};

const agg_estimator agg_cms_estimator = {
    .id = shoal_cms_id,
    .support = support,
    .debias = debias,
    .memory = agg_sketch_support_memory,
    .marks = &marks,
    .pairs = pairs,
};
