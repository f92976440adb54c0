// SPDX-License-Identifier: Apache-2.0
// A generator whose first draws are chosen by the test, so that a randomizer's every coin can be
// forced to either side.
#ifndef SCRIPTED_RNG_H
#define SCRIPTED_RNG_H

#include "rng.h"

#define SCRIPT_LEN (64 * SHOAL_RNG_BLOCKS / 8)

static inline void script_word(shoal_rng *rng, uint32_t position, uint64_t word)
{
    for (int i = 0; i < 8; i++)
        rng->buffer[8 * position + (uint32_t)i] = (uint8_t)(word >> (8 * i));
}

// Draws from `first` on are all `rest`; the test sets the ones before.
static inline void script(shoal_rng *rng, uint32_t first, uint64_t rest)
{
    const uint8_t seed[32] = {0};
    shoal_rng_init(rng, seed);
    rng->used = 0;
    for (uint32_t i = first; i < SCRIPT_LEN; i++) script_word(rng, i, rest);
}

#endif
