// SPDX-License-Identifier: Apache-2.0
// The recipe that a test is making; a test makes one at a time.
#ifndef BUILDING_H
#define BUILDING_H

#include "builder.h"
#include "recipe_canonical.h"

static shoal_recipe_builder building;

// Finishes it, unless a setter answered with an error. On an error the recipe shows what the
// builder was left with.
static inline shoal_err end_recipe(shoal_recipe *recipe, shoal_err err)
{
    if (err == SHOAL_OK) err = shoal_builder_finish(recipe, &building);
    if (err != SHOAL_OK) *recipe = building.recipe;
    return err;
}

static inline shoal_err finish_recipe(shoal_recipe *recipe)
{
    return end_recipe(recipe, SHOAL_OK);
}

// Writes all canonical bytes, those that the recipe's hash is over.
static inline shoal_err whole_bytes(uint8_t *out, size_t cap, size_t *len,
                                    const shoal_recipe *recipe)
{
    return shoal_recipe_write(out, cap, len, recipe, SHOAL_WHOLE);
}

#endif
