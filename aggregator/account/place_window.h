// SPDX-License-Identifier: Apache-2.0
// The windows of places, for the accounts of mechanisms that answer with places. Private to
// account/.
#ifndef PLACE_WINDOW_H
#define PLACE_WINDOW_H

#include "pair_law.h"
#include "place.h"
#include "place_law.h"

// Returns: whether the window of the position nearest to the item holds the place.
static inline bool place_holds(const agg_place_law *law, uint32_t place, uint64_t item)
{
    uint32_t position =
        (uint32_t)((shoal_place_fraction(item) * law->steps + SHOAL_NUMBER_ONE / 2) >> 32);
    return place - position < law->width; // wraps where below
}

// Adds the places of the two ends of the range: in the window of one end, of both, of neither. The
// third number is the middle. Its places outside the two windows count in one class, since both
// ends have them alike.
static inline void place_pair(agg_pair_law *pair, const agg_place_law *law)
{
    double g = law->steps, w = law->width, apart = g < w ? g : w,
           shared = apart > g / 2 ? apart - g / 2 : 0, in = law->place * law->inside,
           out = law->place * law->outside, third = shared * in + (apart - shared) * out;
    agg_pair_add_both(pair, apart * in, apart * out, apart * out, third);
    agg_pair_add(pair, (w - apart) * in, (w - apart) * in, (w - apart) * out,
                 law->place - 2 * third);
    agg_pair_add(pair, (g - apart) * out, (g - apart) * out, (g - apart) * out, 0);
}

#endif
