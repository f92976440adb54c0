// SPDX-License-Identifier: Apache-2.0
// A coin whose probability is a ratio of two integers of up to 256 bits. Private to the core.
#ifndef SHOAL_RATIO_H
#define SHOAL_RATIO_H

#include "rng.h"
#include "whole.h"

// Draws a coin that is 1 with probability exactly num/den, by rejection of uniform numbers.
//   num: 0 .. den; nothing is drawn at either end
//   den: at least 1
// Returns: 0 or 1.
// Timing: depends on the draws and on the bits of den.
uint32_t shoal_rng_ratio(shoal_rng *rng, const whole *num, const whole *den);

#endif
