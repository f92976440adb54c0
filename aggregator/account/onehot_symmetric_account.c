// SPDX-License-Identifier: Apache-2.0
// The account of the symmetric one-hot encoding: apple-2022 Appendix C; its variance is that of
// estimate/onehot_symmetric_estimate.c.
#include "onehot_law.h"
#include "renyi.h"

static bool propose(shoal_part *part, const agg_wish *wish, uint32_t index)
{
    return index == 0 &&
           index_propose(part, wish, shoal_onehot_symmetric_id, SHOAL_ONEHOT_SIZE_MAX);
}

static double common(const shoal_part *part)
{
    return (double)(0 - part->threshold) * 0x1p-64;
}

static double variance(const shoal_part *part, double n, double f, double squares)
{
    (void)squares;
    return index_variance(n, f, common(part), onehot_rare(part));
}

static double probability(const shoal_part *part, const uint8_t *record, uint64_t item)
{
    return onehot_probability(part, record, item, common(part), onehot_rare(part));
}

// Computes the bound of the Renyi route; each bit's randomized response has half the epsilon.
static double central(double local, double n, double delta)
{
    agg_renyi_curve curve;
    agg_renyi_orders(&curve, local / 2, n);
    agg_renyi_one_hot(&curve, local / 2, n);
    return agg_renyi_epsilon(&curve, delta);
}

static void pair(agg_pair_law *law, const shoal_part *part)
{
    onehot_pair(law, common(part), onehot_rare(part));
}

const agg_account agg_onehot_symmetric_account = {
    .id = shoal_onehot_symmetric_id,
    .usual_for = AGG_USUAL_CELLS | AGG_USUAL_VARIABLE_MANY,
    .propose = propose,
    .variance = variance,
    .tells_apart = onehot_tells_apart,
    .n_outputs = onehot_n_outputs,
    .output = onehot_output,
    .probability = probability,
    .pair = pair,
    .has_bit_a_value = true,
    .central = central,
};
