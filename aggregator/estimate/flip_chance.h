// SPDX-License-Identifier: Apache-2.0
// The probability by which a randomizer's coin shows its rare side, as a double. Pure.
#ifndef FLIP_CHANCE_H
#define FLIP_CHANCE_H

#include "mechanism.h"

// Returns: q = threshold / 2^64, the probability of the rare side as the device draws it.
double agg_rare_probability(const shoal_part *part);

// Returns: c = 1 / (1 - 2q), the factor that undoes on average a coin that flips with probability
// q.
//   part: with a threshold below 2^63
double agg_flip_correction(const shoal_part *part);

#endif
