// SPDX-License-Identifier: Apache-2.0
// The account of the asymmetric one-hot encoding: apple-2022 Appendix A; its variance is that of
// estimate/onehot_asymmetric_estimate.c.
#include "onehot_law.h"

static bool propose(shoal_part *part, const agg_wish *wish, uint32_t index)
{
    return index == 0 &&
           index_propose(part, wish, shoal_onehot_asymmetric_id, SHOAL_ONEHOT_SIZE_MAX);
}

static double variance(const shoal_part *part, double n, double f, double squares)
{
    (void)squares;
    return index_variance(n, f, 0.5, onehot_rare(part));
}

static double probability(const shoal_part *part, const uint8_t *record, uint64_t item)
{
    return onehot_probability(part, record, item, 0.5, onehot_rare(part));
}

static void pair(agg_pair_law *law, const shoal_part *part)
{
    onehot_pair(law, 0.5, onehot_rare(part));
}

const agg_account agg_onehot_asymmetric_account = {
    .id = shoal_onehot_asymmetric_id,
    .usual_for = AGG_USUAL_LIST,
    .propose = propose,
    .variance = variance,
    .tells_apart = onehot_tells_apart,
    .n_outputs = onehot_n_outputs,
    .output = onehot_output,
    .probability = probability,
    .pair = pair,
    .has_bit_a_value = true,
};
