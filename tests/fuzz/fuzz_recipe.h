// SPDX-License-Identifier: Apache-2.0
// Recipes for fuzz targets, of every mechanism's samples.
#ifndef FUZZ_RECIPE_H
#define FUZZ_RECIPE_H

#include "fuzz.h"
#include "samples.h"

// The sample of a choice: samples are numbered as they come, and the choices go round.
static inline sample_at fuzz_sample(uint8_t choice)
{
    size_t n = 0;
    while (sample_number(n).sample != NULL) n++;
    return sample_number(choice % n);
}

static inline void fuzz_recipe(shoal_recipe *recipe, uint8_t choice)
{
    static shoal_recipe made[256];
    if (made[choice].n_parts == 0) {
        sample_at at = fuzz_sample(choice);
        PROPERTY(sample_recipe(&made[choice], at.mechanism, at.sample) == SHOAL_OK);
    }
    *recipe = made[choice];
}

// Writes a record of the sample's value.
static inline void fuzz_randomize(uint8_t *record, const shoal_recipe *recipe, const char *value,
                                  shoal_rng *rng)
{
    static const shoal_permanent permanent = {{3}};
    PROPERTY(sample_randomize(record, recipe, value, &permanent, rng) == SHOAL_OK);
}

#endif
