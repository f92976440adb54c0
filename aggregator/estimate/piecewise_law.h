// SPDX-License-Identifier: Apache-2.0
// What the answers of a piecewise mean are worth, and their moments (piecewise.h). Pure; doubles.
#ifndef PIECEWISE_LAW_H
#define PIECEWISE_LAW_H

#include "mechanism.h"

typedef struct agg_piecewise_law {
    double place;                  // probability that the answer is a place
    double inside, outside;        // probability of one place in the window, and of one other place
    double flip;                   // probability that the bit is flipped
    double scale, offset;          // a place y is worth scale * y + offset, a fraction of the range
    double one, zero;              // worth of the bits
    uint32_t steps, width, places; // G, W, G + W
} agg_piecewise_law;

// Sets the law of a prepared part. In expectation an answer is worth the device's fraction,
// whichever of the two answers the coin chooses.
void agg_piecewise_law_of(agg_piecewise_law *law, const shoal_part *part);

// Returns: the worth of an answer below m, as a fraction of the range.
double agg_piecewise_worth(const agg_piecewise_law *law, uint32_t answer);

// Returns: the probability of an answer, given a fraction of the range. The fraction is rounded to
// the grid at random, as a device does.
//   fraction: 0 to 1
double agg_piecewise_probability(const agg_piecewise_law *law, uint32_t answer, double fraction);

// Returns: the variance of one answer's worth, given a fraction of the range.
double agg_piecewise_variance(const agg_piecewise_law *law, double fraction);

#endif
