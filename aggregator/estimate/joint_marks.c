// SPDX-License-Identifier: Apache-2.0
// Marks that several mechanisms share; see joint_marks.h.
#include "joint_marks.h"

#include <stdbool.h>

#include "bytes.h"
#include "flip_chance.h"

double agg_marks_truth(const shoal_part *part)
{
    return (double)(0 - part->threshold) * 0x1p-64; // 2^64 - T is exact before it is rounded
}

void agg_marks_set_bits(agg_joint_coins *c, double p, double not_p, double q, double not_q)
{
    *c = (agg_joint_coins){q, p, not_q, not_p, q / p, not_q / not_p, 1};
}

void agg_marks_flipped_bits(agg_joint_coins *c, const shoal_part *part)
{
    double lie = agg_rare_probability(part), truth = agg_marks_truth(part);
    agg_marks_set_bits(c, lie, truth, truth, lie);
}

void agg_marks_one_answer(agg_joint_coins *c, const shoal_part *part)
{
    double truth = agg_marks_truth(part), other = agg_rare_probability(part) / (part->m - 1);
    *c = (agg_joint_coins){truth, other, 1 - truth, 1 - other, truth / other, 1, 1};
}

uint32_t agg_marks_first_word(const shoal_part *part, const uint8_t *record)
{
    (void)part;
    return load32_le(record);
}

static bool has_bit(const uint8_t *bits, uint32_t l)
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

bool agg_marks_is_bit_of_row(const shoal_part *part, const uint8_t *record, uint32_t column)
{
    (void)part;
    return has_bit(record + 4, column);
}

double agg_marks_sum_bits_of_row(const double *weights, const shoal_part *part,
                                 const uint8_t *record)
{
    return sum_bits(weights, record + 4, part->m);
}

bool agg_marks_is_bit(const shoal_part *part, const uint8_t *record, uint32_t column)
{
    (void)part;
    return has_bit(record, column);
}

double agg_marks_sum_bits(const double *weights, const shoal_part *part, const uint8_t *record)
{
    return sum_bits(weights, record, part->m);
}

bool agg_marks_is_answer(const shoal_part *part, const uint8_t *record, uint32_t column)
{
    return load32_le(record) % part->m == column;
}

double agg_marks_weight_of_answer(const double *weights, const shoal_part *part,
                                  const uint8_t *record)
{
    return weights[load32_le(record) % part->m];
}

void agg_marks_shares_of_ones(double *shares, const agg_joint_coins *c, const agg_sketch *sketch,
                              uint32_t j, double reports)
{
    const uint32_t *ones = sketch->cells.ones + (size_t)j * sketch->shape.m;
    for (uint32_t l = 0; l < sketch->shape.m; l++)
        shares[l] = (ones[l] / reports - c->other) / (c->own - c->other);
}
