// SPDX-License-Identifier: Apache-2.0
// The table of what mechanisms mark; see joint_marks.h.
#include "joint_marks.h"

#include <stddef.h>

#include "affine1.h"
#include "bytes.h"
#include "estimator.h"
#include "flip_chance.h"
#include "rappor.h"

static double truth_of(const shoal_part *part)
{
    return (double)(0 - part->threshold) * 0x1p-64; // 2^64 - T is exact before it is rounded
}

static void set_bits(agg_joint_coins *c, double p, double not_p, double q, double not_q)
{
    *c = (agg_joint_coins){q, p, not_q, not_p, q / p, not_q / not_p, 1};
}

static void set_flipped_bits(agg_joint_coins *c, const shoal_part *part)
{
    double lie = agg_rare_probability(part), truth = truth_of(part);
    set_bits(c, lie, truth, truth, lie);
}

static void set_fair_bit(agg_joint_coins *c, const shoal_part *part)
{
    set_bits(c, agg_rare_probability(part), truth_of(part), 0.5, 0.5);
}

static void set_rappor_bits(agg_joint_coins *c, const shoal_part *part)
{
    uint64_t p = 0, q = 0;
    shoal_rappor_effective(&p, &q, part);
    set_bits(c, (double)p * 0x1p-64, (double)(0 - p) * 0x1p-64, (double)q * 0x1p-64,
             (double)(0 - q) * 0x1p-64);
}

// One of m answers: the truth, or each other alike.
static void set_answer(agg_joint_coins *c, const shoal_part *part)
{
    double truth = truth_of(part), other = agg_rare_probability(part) / (part->m - 1);
    *c = (agg_joint_coins){truth, other, 1 - truth, 1 - other, truth / other, 1, 1};
}

// A set of d of s with the own index is one of C(s - 1, d - 1), without it one of C(s - 1, d).
static void set_subset(agg_joint_coins *c, const shoal_part *part)
{
    double truth = truth_of(part), other = (part->k - truth) / (part->m - 1),
           lie = agg_rare_probability(part);
    *c = (agg_joint_coins){
        truth, other, 1 - truth, 1 - other, truth / lie * ((part->m - part->k) / (double)part->k),
        1,     1};
}

static void set_sign(agg_joint_coins *c, const shoal_part *part)
{
    double truth = truth_of(part), lie = agg_rare_probability(part);
    *c = (agg_joint_coins){truth, 0.5, lie, 0.5, 2 * truth, 2 * lie, 1};
}

static void set_cell(agg_joint_coins *c, const shoal_part *part)
{
    double truth = truth_of(part), cells = 2.0 * part->k,
           other = agg_rare_probability(part) / (cells - 1);
    *c = (agg_joint_coins){truth,         other, 1 - truth,          1 - other,
                           truth / other, 1,     1 / (cells * other)};
}

static uint32_t first_word(const shoal_part *part, const uint8_t *record)
{
    (void)part;
    return load32_le(record);
}

static uint32_t answer_row(const shoal_part *part, const uint8_t *record)
{
    return load32_le(record) / part->m;
}

static int has_bit(const uint8_t *bits, uint32_t l)
{
    return bits[l / 8] >> l % 8 & 1;
}

static double sum_bits(const double *weights, const uint8_t *bits, uint32_t m)
{
    double sum = 0;
    for (uint32_t l = 0; l < m; l += 8)
        for (uint32_t byte = bits[l / 8], i = l; byte != 0; byte >>= 1, i++)
            sum += byte & 1 ? weights[i] : 0;
    return sum;
}

static int is_bit_of_row(const shoal_part *part, const uint8_t *record, uint32_t column)
{
    (void)part;
    return has_bit(record + 4, column);
}

static double sum_bits_of_row(const double *weights, const shoal_part *part, const uint8_t *record)
{
    return sum_bits(weights, record + 4, part->m);
}

static int is_bit(const shoal_part *part, const uint8_t *record, uint32_t column)
{
    (void)part;
    return has_bit(record, column);
}

static double sum_list_bits(const double *weights, const shoal_part *part, const uint8_t *record)
{
    return sum_bits(weights, record, part->m);
}

static int is_answer(const shoal_part *part, const uint8_t *record, uint32_t column)
{
    return load32_le(record) % part->m == column;
}

static double weight_of_answer(const double *weights, const shoal_part *part, const uint8_t *record)
{
    return weights[load32_le(record) % part->m];
}

static int is_in_set(const shoal_part *part, const uint8_t *record, uint32_t column)
{
    for (uint32_t i = 0; i < part->k; i++)
        if (load32_le(record + (size_t)4 * i) == column) return 1;
    return 0;
}

static double sum_set(const double *weights, const shoal_part *part, const uint8_t *record)
{
    double sum = 0;
    for (uint32_t i = 0; i < part->k; i++) sum += weights[load32_le(record + (size_t)4 * i)];
    return sum;
}

static int has_sign(const shoal_part *part, const uint8_t *record, uint32_t column)
{
    (void)part;
    uint32_t column_sign = load32_le(record + 4);
    return (int)(shoal_parity(column_sign >> 1 & column) ^ (column_sign & 1));
}

// Half of all weights, and half of their signs' sum.
static double sum_sign(const double *weights, const shoal_part *part, const uint8_t *record)
{
    (void)part;
    uint32_t column_sign = load32_le(record + 4);
    double of_sign = weights[column_sign >> 1];
    return (weights[0] + (column_sign & 1 ? of_sign : -of_sign)) / 2;
}

static int is_cell(const shoal_part *part, const uint8_t *record, uint32_t column)
{
    uint32_t row = load32_le(record) / 2 % part->m;
    return load32_le(record) ==
           2 * (column % part->k * part->m + row) + (shoal_parity(row & column / part->k) ^ 1);
}

// Of the block's columns every other one has the sign.
static double sum_block(const double *weights, const shoal_part *part, const uint8_t *record)
{
    uint32_t index = load32_le(record) >> 1;
    return weights[index - index % part->m] / 2;
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

static uint32_t place_of_block(const shoal_part *part, uint32_t x)
{
    return x % part->k * part->m;
}

static void shares_of_ones(double *shares, const agg_joint_coins *c, const agg_sketch *sketch,
                           uint32_t j, double reports)
{
    const uint32_t *ones = sketch->cells.ones + (size_t)j * sketch->shape.m;
    for (uint32_t l = 0; l < sketch->shape.m; l++)
        shares[l] = (ones[l] / reports - c->other) / (c->own - c->other);
}

static void shares_of_signs(double *shares, const agg_joint_coins *c, const agg_sketch *sketch,
                            uint32_t j, double reports)
{
    const int32_t *sums = sketch->cells.sums + (size_t)j * sketch->shape.m;
    for (uint32_t l = 0; l < sketch->shape.m; l++)
        shares[l] = sums[l] / (reports * (c->own - c->not_own));
    walsh_hadamard(shares, sketch->shape.m);
}

static const agg_joint_marks table[] = {
    {shoal_cms_id, AGG_JOINT_APART, set_flipped_bits, first_word, is_bit_of_row, sum_bits_of_row,
     NULL, NULL, shares_of_ones, 0},
    {shoal_rappor_id, AGG_JOINT_APART, set_rappor_bits, first_word, is_bit_of_row, sum_bits_of_row,
     NULL, NULL, shares_of_ones, 0},
    {shoal_olh_id, AGG_JOINT_ALIKE, set_answer, answer_row, is_answer, weight_of_answer, NULL, NULL,
     shares_of_ones, 0},
    {shoal_hcms_id, AGG_JOINT_ALIKE, set_sign, first_word, has_sign, sum_sign, transform_row, NULL,
     shares_of_signs, 0},
    {shoal_onehot_asymmetric_id, AGG_JOINT_APART, set_fair_bit, NULL, is_bit, sum_list_bits, NULL,
     NULL, NULL, 0},
    {shoal_onehot_symmetric_id, AGG_JOINT_APART, set_flipped_bits, NULL, is_bit, sum_list_bits,
     NULL, NULL, NULL, 0},
    {shoal_grr_id, AGG_JOINT_ALIKE, set_answer, NULL, is_answer, weight_of_answer, NULL, NULL, NULL,
     1},
    {shoal_subset_id, AGG_JOINT_ALIKE, set_subset, NULL, is_in_set, sum_set, NULL, NULL, NULL, 1},
    {shoal_hadamard_id, AGG_JOINT_BLOCKS, set_cell, NULL, is_cell, sum_block, NULL, place_of_block,
     NULL, 0},
};

const agg_joint_marks *agg_joint_marks_of(uint32_t mechanism)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].id == mechanism) return &table[i];
    return NULL;
}
