// SPDX-License-Identifier: Apache-2.0
// Scales a number to its position in a range, in exact integers. Private to the core.
#ifndef SHOAL_NUMBER_ITEM_H
#define SHOAL_NUMBER_ITEM_H

#include <stdint.h>

// Scales x from [low, high] to [0, count].
//   low < high; count: 1 .. 2^32
// Returns: floor(count * (x - low) / (high - low)); 0 below the range, count above it.
// Timing: constant in x.
uint64_t shoal_number_scale(int64_t x, int64_t low, int64_t high, uint64_t count);

#endif
