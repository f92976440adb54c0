// SPDX-License-Identifier: Apache-2.0
// Estimates counts from a Hadamard Count Mean Sketch: apple-2017 Algorithms 7 and 4, with the
// variance of the estimator as it is computed here.
//
// S_j holds the sums of signs of row j, and A(d) = sum_j (H S_j)[h_j(d)]. With q the probability of
// a flip and c = 1/(1 - 2q),
//
//     f = m/(m-1) ( c A - n/m )
//     Var = (m/(m-1))^2 ( n c^2 - f - (n - f)/m^2 + (s/k)(Q - f^2 + f) ),     s = (1/m)(1 - 1/m)
//
// A report adds c times a sign, whose square is c^2. The mean is 1 if the report holds d (hence -
// f) and 1/m otherwise. mean_sketch.h explains Q.
#include <stdbool.h>
#include <string.h>

#include "affine1.h"
#include "bytes.h"
#include "estimator.h"
#include "flip_chance.h"
#include "joint_marks.h"
#include "mean_sketch.h"
#include "whole_domain.h"
#include "wht.h"

static void row_values(int32_t *values, const agg_sketch *sketch, uint32_t j)
{
    memcpy(values, sketch->cells.sums + (size_t)j * sketch->shape.m,
           sketch->shape.m * sizeof *values);
    agg_wht(values, sketch->shape.m);
}

static agg_err support(int64_t *sums, agg_error *error, const shoal_part *part,
                       const agg_sketch *sketch, const uint64_t *items, size_t n_items,
                       unsigned n_threads)
{
    return agg_sketch_support(sums, error, part, sketch, row_values, items, n_items, 0, n_threads);
}

// Returns: the number of ordered pairs of different devices in the same cell. The transform keeps
// squares up to the factor m (Parseval), so it is not needed.
static double count_pairs(const agg_sketch *sketch, double c, double n)
{
    double squares = 0, m = sketch->shape.m;
    for (uint64_t i = 0; i < sketch->n_cells; i++) {
        double sum = sketch->cells.sums[i];
        squares += sum * sum;
    }
    return m * c * c * (squares - n);
}

static void debias(agg_debias *out, const shoal_part *part, const agg_sketch *sketch, uint64_t n)
{
    double c = agg_flip_correction(part);
    agg_mean_sketch s = agg_mean_sketch_of(n, part->k, part->m, c);
    double same = agg_mean_sketch_pairs(&s, count_pairs(sketch, c, s.n));
    double square = s.stretch * s.stretch, miss = 1 / (s.m * s.m);
    out->scale = s.stretch * c;
    out->offset = -s.stretch * s.n / s.m;
    out->pairs = square * s.spread / s.k * same;
    out->base = square * (s.n * c * c - s.n * miss + s.spread / s.k * same);
    out->slope = square * (s.spread / s.k - 1 + miss);
    out->curve = -square * s.spread / s.k;
    out->is_signed = true;
}

// The transform of a row keeps products up to the factor m. Its first sum is that of all cells,
// which `pairs` takes off; a report is in any other one with probability (m - 1)/m.
static double pairs(const shoal_part *a, const agg_sketch *x, uint64_t n, const shoal_part *b,
                    const agg_sketch *y)
{
    double c = agg_flip_correction(a), c_b = y == NULL ? c : agg_flip_correction(b), sum = 0;
    for (uint32_t j = 0; j < a->k; j++) {
        const int32_t *of_x = x->cells.sums + (size_t)j * a->m,
                      *of_y = y == NULL ? of_x : y->cells.sums + (size_t)j * a->m;
        for (uint32_t l = 1; l < a->m; l++) sum += (double)of_x[l] * of_y[l];
    }
    if (y == NULL) sum -= (double)n * (1 - 1.0 / a->m);
    return a->m * c * c_b * sum;
}

static void set_sign(agg_joint_coins *c, const shoal_part *part)
{
    double truth = agg_marks_truth(part), lie = agg_rare_probability(part);
    *c = (agg_joint_coins){truth, 0.5, lie, 0.5, 2 * truth, 2 * lie, 1};
}

static bool has_sign(const shoal_part *part, const uint8_t *record, uint32_t column)
{
    (void)part;
    uint32_t column_sign = load32_le(record + 4);
    return (int)(shoal_parity(column_sign >> 1 & column) ^ (column_sign & 1));
}

// Returns: half of all weights, and half of the sum of their signs.
static double sum_sign(const double *weights, const shoal_part *part, const uint8_t *record)
{
    (void)part;
    uint32_t column_sign = load32_le(record + 4);
    double of_sign = weights[column_sign >> 1];
    return (weights[0] + (column_sign & 1 ? of_sign : -of_sign)) / 2;
}

static void walsh_hadamard(double *x, uint32_t n)
{
    for (uint32_t h = 1; h < n; h *= 2)
        for (uint32_t i = 0; i < n; i += 2 * h)
            for (uint32_t l = i; l < i + h; l++) {
                double a = x[l], b = x[l + h];
                x[l] = a + b;
                x[l + h] = a - b;
            }
}

static void transform_row(double *weights, const shoal_part *part)
{
    walsh_hadamard(weights, part->m);
}

static void shares_of_signs(double *shares, const agg_joint_coins *c, const agg_sketch *sketch,
                            uint32_t j, double reports)
{
    const int32_t *sums = sketch->cells.sums + (size_t)j * sketch->shape.m;
    for (uint32_t l = 0; l < sketch->shape.m; l++)
        shares[l] = sums[l] / (reports * (c->own - c->not_own));
    walsh_hadamard(shares, sketch->shape.m);
}

static const agg_joint_marks marks = {
    .columns = AGG_JOINT_ALIKE,
    .set_coins = set_sign,
    .row = agg_marks_first_word,
    .is_marked = has_sign,
    .sum_marked = sum_sign,
    .transform = transform_row,
    .row_shares = shares_of_signs,
};

const agg_estimator agg_hcms_estimator = {
    .id = shoal_hcms_id,
    .support = support,
    .debias = debias,
    .memory = agg_sketch_support_memory,
    .marks = &marks,
    .pairs = pairs,
};
