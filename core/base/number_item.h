// SPDX-License-Identifier: Apache-2.0
// A number's place in a range, in exact integers. Private to the core.
#ifndef SHOAL_NUMBER_ITEM_H
#define SHOAL_NUMBER_ITEM_H

#include <stdint.h>

// Returns: floor(count * (x - low) / (high - low)) in [0, count]; 0 below the range, count above
// it.
//   low < high; count: 1 .. 2^32
// Timing: constant in x.
uint64_t shoal_number_scale(int64_t x, int64_t low, int64_t high, uint64_t count);

#endif
