// SPDX-License-Identifier: Apache-2.0
// A small finished recipe for tests of the core, without a JSON reader.
#ifndef TEST_RECIPES_H
#define TEST_RECIPES_H

#include <string.h>

#include "recipe.h"

static inline shoal_err set_text(shoal_recipe *recipe, const char *path, const char *text)
{
    return shoal_recipe_set_string(recipe, path, strlen(path), text, strlen(text));
}

static inline shoal_err set_int(shoal_recipe *recipe, const char *path, int64_t number)
{
    return shoal_recipe_set_number(recipe, path, strlen(path), number * 1000000);
}

static inline shoal_err set_micro(shoal_recipe *recipe, const char *path, int64_t micro)
{
    return shoal_recipe_set_number(recipe, path, strlen(path), micro);
}

#define TEST_SEED "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

// The fields that joint recipes have outside their variables. Returns: the first error.
static inline shoal_err start_joint_recipe(shoal_recipe *recipe)
{
    shoal_recipe_init(recipe);
    shoal_err err = set_text(recipe, "recipe", "vector");
    if (err == SHOAL_OK) err = set_text(recipe, "analysis", "test");
    if (err == SHOAL_OK) err = set_text(recipe, "stream", "s");
    if (err == SHOAL_OK) err = set_int(recipe, "limit.per_day", 1);
    if (err == SHOAL_OK) err = set_text(recipe, "expires", "2030-01-01");
    return err;
}

// The fields every other recipe has.
static inline shoal_err start_any_recipe(shoal_recipe *recipe, const char *mechanism,
                                         const char *value)
{
    shoal_err err = start_joint_recipe(recipe);
    if (err == SHOAL_OK) err = set_text(recipe, "value", value);
    if (err == SHOAL_OK) err = set_text(recipe, "mechanism", mechanism);
    return err;
}

static inline shoal_err start_recipe(shoal_recipe *recipe, const char *mechanism, int64_t eps_micro)
{
    shoal_err err = start_any_recipe(recipe, mechanism, "word");
    return err == SHOAL_OK ? set_micro(recipe, "parameters.epsilon", eps_micro) : err;
}

static inline shoal_err sketch_recipe(shoal_recipe *recipe, const char *mechanism,
                                      int64_t eps_micro, uint32_t k, uint32_t m)
{
    shoal_err err = start_recipe(recipe, mechanism, eps_micro);
    if (err == SHOAL_OK) err = set_text(recipe, "hash", "poly1");
    if (err == SHOAL_OK) err = set_text(recipe, "seed", TEST_SEED);
    if (err == SHOAL_OK) err = set_int(recipe, "parameters.k", k);
    if (err == SHOAL_OK) err = set_int(recipe, "parameters.m", m);
    return err == SHOAL_OK ? shoal_recipe_finish(recipe) : err;
}

static inline shoal_err onehot_recipe(shoal_recipe *recipe, int64_t eps_micro, uint32_t size)
{
    shoal_err err = start_recipe(recipe, "onehot-asymmetric", eps_micro);
    if (err == SHOAL_OK) err = set_int(recipe, "parameters.size", size);
    return err == SHOAL_OK ? shoal_recipe_finish(recipe) : err;
}

#endif
