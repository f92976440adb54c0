// SPDX-License-Identifier: Apache-2.0
// Estimates counts from generalized randomized response: index_counts.h with p = 1 - T/2^64 and q =
// (T/2^64)/(s - 1).
//
// At T/2^64 = (s - 1)/(e^epsilon + s - 1), Var = n (e^epsilon + s - 2)/(e^epsilon - 1)^2 + f (s -
// 2)/(e^epsilon - 1).
#include "flip_chance.h"
#include "index_counts.h"
#include "joint_marks.h"
#include "sum_law.h"

static void debias(agg_debias *out, const shoal_part *part, const agg_sketch *sketch, uint64_t n)
{
    (void)sketch;
    double p = (double)(0 - part->threshold) * 0x1p-64; // 2^64 - T is exact before it is rounded
    agg_index_debias(out, (double)n, p, agg_rare_probability(part) / (part->m - 1));
}

static void sum_law(agg_sum_law *law, const shoal_part *part, double c)
{
    double p = agg_common_side(part), q = agg_rare_probability(part) / (part->m - 1);
    law->in = agg_coin_moments(p + (c - 1) * q);
    law->out = agg_coin_moments(c * q);
    law->most = 1;
}

static const agg_joint_marks marks = {
    .columns = AGG_JOINT_ALIKE,
    .set_coins = agg_marks_one_answer,
    .is_marked = agg_marks_is_answer,
    .sum_marked = agg_marks_weight_of_answer,
    .none_has_column = true,
};

const agg_estimator agg_grr_estimator = {
    .id = shoal_grr_id,
    .support = agg_index_support,
    .debias = debias,
    .marks = &marks,
    .sum_law = sum_law,
};
