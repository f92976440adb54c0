// SPDX-License-Identifier: Apache-2.0
// The account of the piecewise mean: Wang et al. 2019, lemmas 1 and 3, on the grid.
#include "account.h"
#include "bytes.h"
#include "piecewise.h"
#include "piecewise_law.h"
#include "place_window.h"

static agg_place_law law_of(const shoal_part *part)
{
    agg_place_law law;
    agg_piecewise_law_of(&law, part);
    return law;
}

static bool propose(shoal_part *part, const agg_wish *wish, uint32_t index)
{
    if (index > 0 || !wish->is_number) return false;
    *part = (shoal_part){.mechanism = shoal_piecewise_id,
                         .domain = SHOAL_DOMAIN_NUMBER,
                         .eps_micro = wish->eps_micro};
    return true;
}

// Returns: the variance of the mean fraction of n devices that all have the fraction f/n, which
// for numbers that spread is the error about the mean of these very devices.
static double variance(const shoal_part *part, double n, double f, double squares)
{
    agg_place_law law = law_of(part);
    (void)squares;
    return agg_place_variance(&law, f / n) / n;
}

static bool tells_apart(const shoal_part *part, const uint8_t *record, uint64_t a, uint64_t b)
{
    agg_place_law law = law_of(part);
    uint32_t answer = load32_le(record);
    if (answer >= law.places)
        return (answer > law.places) == (shoal_place_fraction(a) > shoal_place_fraction(b));
    return place_holds(&law, answer, a) && !place_holds(&law, answer, b);
}

static uint64_t n_outputs(const shoal_part *part)
{
    return part->m;
}

static bool output(uint8_t *record, const shoal_part *part, uint64_t index)
{
    (void)part;
    store32_le(record, (uint32_t)index);
    return true;
}

static double probability(const shoal_part *part, const uint8_t *record, uint64_t item)
{
    agg_place_law law = law_of(part);
    return agg_place_probability(&law, load32_le(record),
                                 (double)shoal_place_fraction(item) * 0x1p-32);
}

// Places, and the bits.
static void pair(agg_pair_law *law, const shoal_part *part)
{
    agg_place_law l = law_of(part);
    double bit = 1 - l.place;
    if (l.place > 0) place_pair(law, &l);
    agg_pair_add_both(law, bit * (1 - l.flip), bit * l.flip, bit * l.flip, bit / 2);
}

const agg_account agg_piecewise_account = {
    .id = shoal_piecewise_id,
    .is_of_devices = true,
    .propose = propose,
    .variance = variance,
    .tells_apart = tells_apart,
    .n_outputs = n_outputs,
    .output = output,
    .probability = probability,
    .pair = pair,
};
