// SPDX-License-Identifier: Apache-2.0
// The account of generalized randomized response; its variance is that of estimate/grr_estimate.c.
#include "bytes.h"
#include "grr.h"
#include "index_law.h"

static bool propose(shoal_part *part, const agg_wish *wish, uint32_t index)
{
    return index == 0 && index_propose(part, wish, shoal_grr_id, SHOAL_GRR_SIZE_MAX);
}

static double truth_of(const shoal_part *part)
{
    return (double)(0 - part->threshold) * 0x1p-64;
}

// Returns: the probability of each untrue answer.
static double lie_of(const shoal_part *part)
{
    return (double)part->threshold * 0x1p-64 / (part->m - 1);
}

static double variance(const shoal_part *part, double n, double f, double squares)
{
    (void)squares;
    return index_variance(n, f, truth_of(part), lie_of(part));
}

static uint32_t answer_of(const shoal_part *part, uint64_t item)
{
    return item < part->size ? (uint32_t)item : part->size;
}

static bool tells_apart(const shoal_part *part, const uint8_t *record, uint64_t a, uint64_t b)
{
    (void)b;
    return load32_le(record) == answer_of(part, a);
}

static uint64_t n_outputs(const shoal_part *part)
{
    return part->m <= 1u << 20 ? part->m : 0;
}

static bool output(uint8_t *record, const shoal_part *part, uint64_t index)
{
    (void)part;
    store32_le(record, (uint32_t)index);
    return true;
}

static double probability(const shoal_part *part, const uint8_t *record, uint64_t item)
{
    return load32_le(record) == answer_of(part, item) ? truth_of(part) : lie_of(part);
}

static void pair(agg_pair_law *law, const shoal_part *part)
{
    double truth = truth_of(part), lie = lie_of(part), rest = (part->m - 2) * lie;
    agg_pair_add_both(law, truth, lie, lie, lie);
    agg_pair_add(law, rest, rest, rest, rest - lie + truth);
}

const agg_account agg_grr_account = {
    .id = shoal_grr_id,
    .usual_for = AGG_USUAL_VARIABLE_FEW,
    .propose = propose,
    .variance = variance,
    .sums_up = true,
    .tells_apart = tells_apart,
    .n_outputs = n_outputs,
    .output = output,
    .probability = probability,
    .pair = pair,
};
