// SPDX-License-Identifier: Apache-2.0
// Estimates counts from asymmetric one-hot sums: apple-2022 Appendix A, Algorithm 2.
//
// C of the n records have the bit set. A device that holds the value sets it with probability 1/2,
// any other device with q:
//
//     f = (C - n q) / (1/2 - q),     Var = ( f/4 + (n - f) q (1-q) ) / (1/2 - q)^2
//
// The paper's listing subtracts n/(e^eps - 1). n q/(1/2 - q) is twice that, and it makes the
// estimate unbiased.
#include "estimator.h"
#include "flip_chance.h"
#include "index_counts.h"
#include "joint_marks.h"
#include "sum_law.h"

static void debias(agg_debias *out, const shoal_part *part, const agg_sketch *sketch, uint64_t n)
{
    (void)sketch;
    agg_index_debias(out, (double)n, 0.5, agg_rare_probability(part));
}

static void set_fair_bit(agg_joint_coins *c, const shoal_part *part)
{
    agg_marks_set_bits(c, agg_rare_probability(part), agg_marks_truth(part), 0.5, 0.5);
}

static void sum_law(agg_sum_law *law, const shoal_part *part, double c)
{
    agg_sum_of_bits(law, 0.5, agg_rare_probability(part), c);
}

static const agg_joint_marks marks = {
    .columns = AGG_JOINT_APART,
    .is_set = true,
    .set_coins = set_fair_bit,
    .is_marked = agg_marks_is_bit,
    .sum_marked = agg_marks_sum_bits,
};

const agg_estimator agg_onehot_asymmetric_estimator = {
    .id = shoal_onehot_asymmetric_id,
    .support = agg_index_support,
    .debias = debias,
    .marks = &marks,
    .sum_law = sum_law,
};
