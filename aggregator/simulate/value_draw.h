// SPDX-License-Identifier: Apache-2.0
// Draws values in proportion to their counts. Private to simulate/.
#ifndef VALUE_DRAW_H
#define VALUE_DRAW_H

#include <stddef.h>
#include <stdint.h>

#include "rng.h"

// Writes the running sums of n counts.
static inline void agg_running_sums(uint64_t *upto, const uint64_t *counts, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) upto[i] = sum += counts[i];
}

// Draws a value: one u64 draw and a binary search.
//   upto: n running sums, the last one above zero
// Returns: the first value whose running sum is above the draw.
static inline uint32_t agg_draw_value(const uint64_t *upto, size_t n, shoal_rng *rng)
{
    uint64_t draw = shoal_rng_below(rng, upto[n - 1]);
    size_t low = 0, high = n - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (upto[middle] > draw)
            high = middle;
        else
            low = middle + 1;
    }
    return (uint32_t)low;
}

#endif
