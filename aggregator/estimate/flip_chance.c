// SPDX-License-Identifier: Apache-2.0
// The probability of a flipped coin; see flip_chance.h.
#include "flip_chance.h"

double agg_rare_probability(const shoal_part *part)
{
    return (double)part->threshold * 0x1p-64;
}

double agg_flip_correction(const shoal_part *part)
{
    // 2^63 - T is exact before it is rounded once, so that 1 - 2q keeps its digits near epsilon 0.
    return 0x1p63 / (double)(((uint64_t)1 << 63) - part->threshold);
}
