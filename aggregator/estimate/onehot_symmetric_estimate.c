// SPDX-License-Identifier: Apache-2.0
// Estimates counts from symmetric one-hot sums: apple-2022 Appendix C, Algorithm 4.
//
// C of the n records have the bit set. A device that holds the value sets it with probability 1 -
// q, any other device with q:
//
//     f = (C - n q)/(1 - 2q),     Var = n q (1-q)/(1 - 2q)^2,     q = T/2^64 = 1/(e^(epsilon/2) +
//     1)
//
// This is Theorem C.2 with epsilon/2 in place of its epsilon, which is the deletion model's.
#include "flip_chance.h"
#include "index_counts.h"
#include "joint_marks.h"
#include "sum_law.h"

static void debias(agg_debias *out, const shoal_part *part, const agg_sketch *sketch, uint64_t n)
{
    (void)sketch;
    double p = (double)(0 - part->threshold) * 0x1p-64; // 2^64 - T is exact before it is rounded
    agg_index_debias(out, (double)n, p, agg_rare_probability(part));
}

static void sum_law(agg_sum_law *law, const shoal_part *part, double c)
{
    agg_sum_of_bits(law, agg_common_side(part), agg_rare_probability(part), c);
}

static const agg_joint_marks marks = {
    .columns = AGG_JOINT_APART,
    .is_set = true,
    .set_coins = agg_marks_flipped_bits,
    .is_marked = agg_marks_is_bit,
    .sum_marked = agg_marks_sum_bits,
};

const agg_estimator agg_onehot_symmetric_estimator = {
    .id = shoal_onehot_symmetric_id,
    .support = agg_index_support,
    .debias = debias,
    .marks = &marks,
    .sum_law = sum_law,
};
