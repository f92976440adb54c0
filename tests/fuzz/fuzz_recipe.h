// SPDX-License-Identifier: Apache-2.0
// Recipes for fuzz targets, and how a target says that its property broke.
#ifndef FUZZ_RECIPE_H
#define FUZZ_RECIPE_H

#include <stdio.h>
#include <stdlib.h>

#include "test_recipes.h"

// Aborts, so that the fuzzer keeps the input.
#define PROPERTY(condition)                                                                                            \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #condition);                                    \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

// Picks one of four small recipes.
static inline void fuzz_recipe(shoal_recipe *recipe, uint8_t choice)
{
    shoal_err err;
    switch (choice % 4) {
    case 0: err = sketch_recipe(recipe, "cms", 2000000, 100, 20); break;
    case 1: err = sketch_recipe(recipe, "hcms", 2000000, 99, 64); break;
    case 2: err = onehot_recipe(recipe, 2000000, 13); break;
    default: err = sketch_recipe(recipe, "cms", 4000000, 65536, 1024); break;
    }
    PROPERTY(err == SHOAL_OK);
}

#endif
