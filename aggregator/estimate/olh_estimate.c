// SPDX-License-Identifier: Apache-2.0
// Estimates counts from local hashing: Wang et al. 2017 section 4.4, with the variance that shared
// rows add.
//
// C(d) of the n records give the answer that d hashes to in their row. With p the probability of
// the true answer and p' = (1 - p)/(g - 1) that of each other answer,
//
//     f = (C - n/g) / (p - 1/g)
//     Var C = f p (1-p) + (n - f) s + (p - p')^2 (s/k)(Q - f^2 + f),     s = (1/g)(1 - 1/g)
//
// A record of another value agrees with probability 1/g. Two records of one value in one row both
// agree with probability p^2 if their hash is d's (1 in g), and with p'^2 otherwise. Q is the
// number of ordered pairs of devices with one value (mean_sketch.h). Two such devices in one row
// give one answer with probability p^2 + (g-1) p'^2 = 1/g + (p - p')^2 (1 - 1/g), others with 1/g.
#include <string.h>

#include "bytes.h"
#include "estimator.h"
#include "joint_marks.h"
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

// Returns: the number of ordered pairs of different records in the same cell.
static double count_pairs(const agg_sketch *sketch)
{
    double pairs = 0;
    for (uint64_t i = 0; i < sketch->n_cells; i++) {
        double cell = sketch->cells.ones[i];
        pairs += cell * cell - cell;
    }
    return pairs;
}

// Returns: Q, solved from the expected number of pairs (1/k) ( (n^2 - n)/g + Q (p - p')^2 (1 - 1/g)
// ) and clamped to its possible range.
static double same_value_pairs(const agg_sketch *sketch, double n, double gap)
{
    double k = sketch->shape.k, g = sketch->shape.m;
    double q = (k * count_pairs(sketch) - (n * n - n) / g) / (gap * gap * (1 - 1 / g));
    if (q < 0) return 0;
    return q > n * n ? n * n : q;
}

static void debias(agg_debias *out, const shoal_part *part, const agg_sketch *sketch, uint64_t n)
{
    double g = part->m, reports = (double)n, spread = (1 - 1 / g) / g;
    double p = (double)(0 - part->threshold) * 0x1p-64; // 2^64 - T is exact before it is rounded
    double gap = (p * g - 1) / (g - 1), scale = 1 / (p - 1 / g), square = scale * scale;
    double together = gap * gap * spread / part->k;
    out->scale = scale;
    out->offset = -reports / g * scale;
    double same = together * same_value_pairs(sketch, reports, gap);
    out->pairs = square * same;
    out->base = square * (reports * spread + same);
    out->slope = square * (p * (1 - p) - spread + together);
    out->curve = -square * together;
}

// A cell without its bias is Y = (C - p' N)/(p - p'), whose row sums to N.
static double pairs(const shoal_part *a, const agg_sketch *x, uint64_t n, const shoal_part *b,
                    const agg_sketch *y)
{
    double g = a->m, sum = 0, p = (double)(0 - a->threshold) * 0x1p-64, gap = (p * g - 1) / (g - 1);
    double gap_b = gap;
    if (y != NULL) gap_b = ((double)(0 - b->threshold) * 0x1p-64 * g - 1) / (g - 1);
    for (uint32_t j = 0; j < a->k; j++) {
        const uint32_t *of_x = x->cells.ones + (size_t)j * a->m,
                       *of_y = y == NULL ? of_x : y->cells.ones + (size_t)j * a->m;
        uint64_t n_x = 0, n_y = 0;
        double both = 0;
        for (uint32_t l = 0; l < a->m; l++) {
            n_x += of_x[l];
            n_y += of_y[l];
            both += (double)of_x[l] * of_y[l];
        }
        sum += both - (double)n_x * (double)n_y / g;
    }
    if (y == NULL) sum -= (double)n * (1 - 1 / g); // one cell of each report is one
    return sum / (gap * gap_b);
}

static uint32_t answer_row(const shoal_part *part, const uint8_t *record)
{
    return load32_le(record) / part->m;
}

static const agg_joint_marks marks = {
    .columns = AGG_JOINT_ALIKE,
    .set_coins = agg_marks_one_answer,
    .row = answer_row,
    .is_marked = agg_marks_is_answer,
    .sum_marked = agg_marks_weight_of_answer,
    .row_shares = agg_marks_shares_of_ones,
};

const agg_estimator agg_olh_estimator = {
    .id = shoal_olh_id,
    .support = support,
    .debias = debias,
    .memory = agg_sketch_support_memory,
    .marks = &marks,
    .pairs = pairs,
};
