// SPDX-License-Identifier: Apache-2.0
// Asymmetric one-hot encoding for planner and auditor: apple-2022 Appendix A.
#include <math.h>

#include "account.h"
#include "onehot_asymmetric.h"

static int propose(shoal_part *part, const agg_wish *wish, uint32_t index)
{
    if (index > 0 || wish->is_number || wish->size < 2 || wish->size > SHOAL_ONEHOT_SIZE_MAX) return 0;
    *part = (shoal_part){.mechanism = shoal_onehot_asymmetric_id,
                         .domain = SHOAL_DOMAIN_CLOSED,
                         .eps_micro = wish->eps_micro,
                         .k = 1,
                         .size = wish->size};
    return 1;
}

static double q_of(const shoal_part *part)
{
    return (double)part->threshold * 0x1p-64;
}

// ( f/4 + (n - f) q (1-q) ) / (1/2 - q)^2
static double variance(const shoal_part *part, double n, double f, double squares)
{
    double q = q_of(part), gap = 0.5 - q;
    (void)squares;
    return (f / 4 + (n - f) * q * (1 - q)) / (gap * gap);
}

static uint32_t bit_of(const uint8_t *record, uint64_t item)
{
    return record[item / 8] >> item % 8 & 1;
}

static int tells_apart(const shoal_part *part, const uint8_t *record, uint64_t a, uint64_t b)
{
    (void)part;
    return bit_of(record, a) && !bit_of(record, b);
}

static uint64_t n_outputs(const shoal_part *part)
{
    return part->m <= 16 ? (uint64_t)1 << part->m : 0;
}

static int output(uint8_t *record, const shoal_part *part, uint64_t index)
{
    for (uint32_t i = 0; i < part->record_size; i++) record[i] = (uint8_t)(index >> 8 * i);
    return 1;
}

static double probability(const shoal_part *part, const uint8_t *record, uint64_t item)
{
    double q = q_of(part), product = 1;
    for (uint32_t l = 0; l < part->m; l++) product *= l == item ? 0.5 : bit_of(record, l) ? q : 1 - q;
    return product;
}

const agg_account agg_onehot_asymmetric_account = {
    shoal_onehot_asymmetric_id, propose, variance, tells_apart, n_outputs, output, probability,
};
