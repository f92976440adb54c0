// SPDX-License-Identifier: Apache-2.0
// What answers that are places of a grid (place.h), or bits, are worth, and their moments. Pure;
// doubles.
#ifndef PLACE_LAW_H
#define PLACE_LAW_H

#include "mechanism.h"

// In expectation an answer is worth the device's fraction, a place as well as a bit.
typedef struct agg_place_law {
    double place;                  // probability that the answer is a place; 1 if there are no bits
    double inside, outside;        // probability of one place in the window, and of one other place
    double flip;                   // probability that the bit is flipped; 0 if there is none
    double scale, offset;          // a place y is worth scale * y + offset, a fraction of the range
    double one, zero;              // worth of the bits
    uint32_t steps, width, places; // G, W, G + W
} agg_place_law;

// Sets the law of a part whose answers are places only.
//   part: prepared, with the window's width k and the threshold of place.h
//   steps: G
void agg_place_law_of(agg_place_law *law, const shoal_part *part, uint32_t steps);

// Returns: the worth of an answer, as a fraction of the range.
double agg_place_worth(const agg_place_law *law, uint32_t answer);

// Returns: the probability of an answer, given a fraction of the range. The fraction is rounded to
// the grid at random, as a device does.
//   fraction: 0 to 1
double agg_place_probability(const agg_place_law *law, uint32_t answer, double fraction);

// Returns: the variance of one answer's worth, given a fraction of the range.
double agg_place_variance(const agg_place_law *law, double fraction);

#endif
