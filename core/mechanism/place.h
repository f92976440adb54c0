// SPDX-License-Identifier: Apache-2.0
// Places: noisy positions on a grid of a number's range. The mechanisms that answer with a place
// share this code. Private to the core and to the aggregator's laws of places.
//
// The grid has the positions 0 .. G of the range. A device whose number is the fraction u/2^32
// rounds it at random to one of the two positions beside it, so that the mean position is exact:
// j = floor((u G + r) / 2^32) with a uniform r below 2^32. There are G + W places. The W places
// j .. j + W - 1 are the window of position j. With probability 1 - T/2^64 a place of the window is
// sent, else one of the G other places; either is uniform.
#ifndef SHOAL_PLACE_H
#define SHOAL_PLACE_H

#include "bytes.h"
#include "mask.h"
#include "mechanism.h"

#define SHOAL_PLACE_STEPS 256u // G of every recipe

// Returns: an item as a fraction of the range in units of 2^-32. "No number" is the middle.
static inline uint64_t shoal_place_fraction(uint64_t item)
{
    uint64_t is_none = 0 - (item >> 63); // no other item reaches bit 63
    return (item & ~is_none) | ((SHOAL_NUMBER_ONE / 2) & is_none);
}

// Draws a place: bernoulli (T); below(W); below(G).
//   part: threshold is T, k is W
//   steps: G
//   draw: r
// Timing: constant in the fraction and in the coins.
static inline uint32_t shoal_place_draw(const shoal_part *part, uint32_t steps, uint64_t fraction,
                                        uint64_t draw, shoal_rng *rng)
{
    uint32_t width = part->k, position = (uint32_t)((fraction * steps + draw) >> 32);
    uint32_t is_outside = 0 - shoal_rng_bernoulli(rng, part->threshold);
    uint32_t inside = position + (uint32_t)shoal_rng_below(rng, width);
    uint32_t outside = (uint32_t)shoal_rng_below(rng, steps);
    outside += width & ~mask_if_less(outside, position); // skips the window
    wipe(&position, sizeof position);
    return mask_choose(is_outside, outside, inside);
}

#endif
