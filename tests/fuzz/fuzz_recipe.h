// SPDX-License-Identifier: Apache-2.0
// Recipes for fuzz targets, of every mechanism's samples; the seeds that a target makes of them;
// and how it says that its property broke.
#ifndef FUZZ_RECIPE_H
#define FUZZ_RECIPE_H

#include <stdio.h>
#include <stdlib.h>

#include "samples.h"

// Aborts, so that the fuzzer keeps the input.
#define PROPERTY(condition)                                                                        \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #condition);                \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

// A target may define this: writes its index-th good input, of at most cap bytes (longer ones cost
// time and reach nothing more), made of a sample. The replay runs them like the files of its
// corpus, so that a new mechanism needs no file. Returns: its length; 0 where that sample makes
// none.
size_t fuzz_seed(uint8_t *out, size_t cap, size_t index);

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
