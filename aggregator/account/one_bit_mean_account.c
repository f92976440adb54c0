// SPDX-License-Identifier: Apache-2.0
// The account of the one-bit mean: Ding, Kulkarni, Yekhanin 2017, section 3.
#include "account.h"
#include "bytes.h"
#include "one_bit_mean.h"

static bool propose(shoal_part *part, const agg_wish *wish, uint32_t index)
{
    if (index > 0 || !wish->is_number) return false;
    *part = (shoal_part){.mechanism = shoal_one_bit_mean_id,
                         .domain = SHOAL_DOMAIN_NUMBER,
                         .eps_micro = wish->eps_micro,
                         .k = 1};
    return true;
}

static double q_of(const shoal_part *part)
{
    return (double)part->threshold * 0x1p-64;
}

// Returns: the variance v(1 - v) / (n (1 - 2q)^2) of the fraction v, not of a count. f is n times
// the mean fraction; n/2 gives the largest variance. With k rows, each one has n/k of the reports.
static double variance(const shoal_part *part, double n, double f, double squares)
{
    double q = q_of(part), gap = 1 - 2 * q, v = q + gap * f / n;
    (void)squares;
    return v * (1 - v) * part->k / (n * gap * gap);
}

static uint64_t fraction_of(uint64_t item)
{
    return item == SHOAL_ITEM_NONE ? SHOAL_ONE_BIT_MEAN_NONE : item;
}

static bool tells_apart(const shoal_part *part, const uint8_t *record, uint64_t a, uint64_t b)
{
    return record[shoal_one_bit_mean_bit(part)] == (fraction_of(a) > fraction_of(b));
}

static uint64_t n_outputs(const shoal_part *part)
{
    return 2 * (uint64_t)part->k;
}

static bool output(uint8_t *record, const shoal_part *part, uint64_t index)
{
    if (part->k > 1) store32_le(record, (uint32_t)(index >> 1));
    record[shoal_one_bit_mean_bit(part)] = (uint8_t)(index & 1);
    return true;
}

static double probability(const shoal_part *part, const uint8_t *record, uint64_t item)
{
    double q = q_of(part), one = q + (1 - 2 * q) * ((double)fraction_of(item) * 0x1p-32);
    return (record[shoal_one_bit_mean_bit(part)] ? one : 1 - one) /
           part->k; // all rows are equally likely
}

// Of the two ends of the range. No third number is apart from both; the others have the middle.
static void pair(agg_pair_law *law, const shoal_part *part)
{
    double q = q_of(part);
    agg_pair_add_both(law, 1 - q, q, q, 0.5);
}

const agg_account agg_one_bit_mean_account = {
    .id = shoal_one_bit_mean_id,
    .usual_for = AGG_USUAL_NUMBER,
    .propose = propose,
    .variance = variance,
    .tells_apart = tells_apart,
    .n_outputs = n_outputs,
    .output = output,
    .probability = probability,
    .pair = pair,
};
