// SPDX-License-Identifier: Apache-2.0
// The account of the piecewise mean: Wang et al. 2019, lemmas 1 and 3, on the grid.
#include "account.h"
#include "bytes.h"
#include "piecewise.h"
#include "piecewise_law.h"

static agg_piecewise_law law_of(const shoal_part *part)
{
    agg_piecewise_law law;
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
    agg_piecewise_law law = law_of(part);
    (void)squares;
    return agg_piecewise_variance(&law, f / n) / n;
}

// Returns: whether position j's window holds the place.
static bool holds(const agg_piecewise_law *law, uint32_t place, uint64_t item)
{
    uint32_t position =
        (uint32_t)((shoal_piecewise_fraction(item) * law->steps + SHOAL_NUMBER_ONE / 2) >> 32);
    return place - position < law->width; // wraps where below
}

static bool tells_apart(const shoal_part *part, const uint8_t *record, uint64_t a, uint64_t b)
{
    agg_piecewise_law law = law_of(part);
    uint32_t answer = load32_le(record);
    if (answer >= law.places)
        return (answer > law.places) == (shoal_piecewise_fraction(a) > shoal_piecewise_fraction(b));
    return holds(&law, answer, a) && !holds(&law, answer, b);
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
    agg_piecewise_law law = law_of(part);
    return agg_piecewise_probability(&law, load32_le(record),
                                     (double)shoal_piecewise_fraction(item) * 0x1p-32);
}

// Of the two ends of the range: places in the window of one end, of both, of neither, and the bits.
// The third number is the middle. Its places outside the two windows count in one class, since both
// ends have them alike.
static void pair(agg_pair_law *law, const shoal_part *part)
{
    agg_piecewise_law l = law_of(part);
    double g = l.steps, w = l.width, apart = g < w ? g : w,
           shared = apart > g / 2 ? apart - g / 2 : 0, in = l.place * l.inside,
           out = l.place * l.outside, bit = 1 - l.place;
    double third = shared * in + (apart - shared) * out;
    if (l.place > 0) {
        agg_pair_add_both(law, apart * in, apart * out, apart * out, third);
        agg_pair_add(law, (w - apart) * in, (w - apart) * in, (w - apart) * out,
                     l.place - 2 * third);
        agg_pair_add(law, (g - apart) * out, (g - apart) * out, (g - apart) * out, 0);
    }
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
