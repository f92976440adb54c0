// SPDX-License-Identifier: Apache-2.0
// The account of the square wave: Li et al. 2020, section 5, on the grid.
#include <math.h>

#include "account.h"
#include "bytes.h"
#include "place_window.h"
#include "square_wave.h"

static agg_place_law law_of(const shoal_part *part)
{
    agg_place_law law;
    agg_place_law_of(&law, part, shoal_square_wave_steps(part));
    return law;
}

static bool propose(shoal_part *part, const agg_wish *wish, uint32_t index)
{
    if (index > 0 || !wish->is_number) return false;
    *part = (shoal_part){.mechanism = shoal_square_wave_id,
                         .domain = SHOAL_DOMAIN_NUMBER,
                         .eps_micro = wish->eps_micro};
    return true;
}

// Returns: the variance of the mean fraction of n devices that all have one number, at the least
// favourable number whatever f is: an end of the range, or half a step from it. For numbers that
// spread it is the error about the mean of these very devices.
static double variance(const shoal_part *part, double n, double f, double squares)
{
    agg_place_law law = law_of(part);
    (void)f;
    (void)squares;
    return fmax(agg_place_variance(&law, 0), agg_place_variance(&law, 0.5 / law.steps)) / n;
}

static bool tells_apart(const shoal_part *part, const uint8_t *record, uint64_t a, uint64_t b)
{
    agg_place_law law = law_of(part);
    uint32_t answer = load32_le(record);
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

static void pair(agg_pair_law *law, const shoal_part *part)
{
    agg_place_law l = law_of(part);
    place_pair(law, &l);
}

const agg_account agg_square_wave_account = {
    .id = shoal_square_wave_id,
    .is_of_devices = true,
    .propose = propose,
    .variance = variance,
    .tells_apart = tells_apart,
    .n_outputs = n_outputs,
    .output = output,
    .probability = probability,
    .pair = pair,
};
