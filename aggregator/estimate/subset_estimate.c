// SPDX-License-Identifier: Apache-2.0
// Estimates counts from subset selection (gboard-2024 section 3): index_counts.h with p = 1 -
// T/2^64, the probability that a set holds its own index, and q = (d - p)/(s - 1), the probability
// of any other index.
#include <math.h>
#include <stdbool.h>

#include "bytes.h"
#include "estimator.h"
#include "flip_chance.h"
#include "index_counts.h"
#include "joint_marks.h"
#include "sum_law.h"

static void debias(agg_debias *out, const shoal_part *part, const agg_sketch *sketch, uint64_t n)
{
    (void)sketch;
    double p = (double)(0 - part->threshold) * 0x1p-64; // 2^64 - T is exact before it is rounded
    agg_index_debias(out, (double)n, p, (part->k - p) / (part->m - 1));
}

// A set of d of s indices with its own index is one of C(s - 1, d - 1); without it, one of C(s - 1,
// d).
static void set_subset(agg_joint_coins *c, const shoal_part *part)
{
    double truth = agg_marks_truth(part), other = (part->k - truth) / (part->m - 1),
           lie = agg_rare_probability(part);
    *c = (agg_joint_coins){
        truth, other, 1 - truth, 1 - other, truth / lie * ((part->m - part->k) / (double)part->k),
        1,     1};
}

static bool is_in_set(const shoal_part *part, const uint8_t *record, uint32_t column)
{
    for (uint32_t i = 0; i < part->k; i++)
        if (load32_le(record + (size_t)4 * i) == column) return true;
    return false;
}

static double sum_set(const double *weights, const shoal_part *part, const uint8_t *record)
{
    double sum = 0;
    for (uint32_t i = 0; i < part->k; i++) sum += weights[load32_le(record + (size_t)4 * i)];
    return sum;
}

// Returns: the moments of how many of the `marked` among `all` are in a draw of `drawn`.
static agg_moments hypergeometric(double all, double marked, double drawn)
{
    double share = marked / all;
    return (agg_moments){drawn * share, drawn * share * (1 - share) * (all - drawn) / (all - 1)};
}

// Returns: the moments of a mixture of two laws, the first with probability p.
static agg_moments either(double p, agg_moments a, agg_moments b)
{
    double gap = a.mean - b.mean;
    return (agg_moments){p * a.mean + (1 - p) * b.mean,
                         p * a.variance + (1 - p) * b.variance + p * (1 - p) * gap * gap};
}

static void sum_law(agg_sum_law *law, const shoal_part *part, double c)
{
    double p = agg_common_side(part), d = part->k, others = part->m - 1;
    agg_moments with_own = hypergeometric(others, c - 1, d - 1);
    with_own.mean += 1;
    law->in = either(p, with_own, hypergeometric(others, c - 1, d));
    law->out = either(p, hypergeometric(others, c, d - 1), hypergeometric(others, c, d));
    law->most = fmin(c, d);
}

static const agg_joint_marks marks = {
    .columns = AGG_JOINT_ALIKE,
    .is_set = true,
    .set_coins = set_subset,
    .is_marked = is_in_set,
    .sum_marked = sum_set,
    .none_has_column = true,
};

const agg_estimator agg_subset_estimator = {
    .id = shoal_subset_id,
    .support = agg_index_support,
    .debias = debias,
    .marks = &marks,
    .sum_law = sum_law,
};
