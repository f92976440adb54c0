// SPDX-License-Identifier: Apache-2.0
// A small finished recipe for tests of the core, without a JSON reader.
#ifndef TEST_RECIPES_H
#define TEST_RECIPES_H

#include <string.h>

#include "building.h"
#include "test_seed.h"

static inline shoal_err set_text(const char *path, const char *text)
{
    return shoal_builder_set_string(&building, path, strlen(path), text, strlen(text));
}

static inline shoal_err set_int(const char *path, int64_t number)
{
    return shoal_builder_set_number(&building, path, strlen(path), number * 1000000);
}

static inline shoal_err set_micro(const char *path, int64_t micro)
{
    return shoal_builder_set_number(&building, path, strlen(path), micro);
}

// The fields that joint recipes have outside their variables. Returns: the first error.
static inline shoal_err start_joint_recipe(void)
{
    shoal_builder_init(&building);
    shoal_err err = set_text("recipe", "vector");
    if (err == SHOAL_OK) err = set_text("analysis", "test");
    if (err == SHOAL_OK) err = set_text("stream", "s");
    if (err == SHOAL_OK) err = set_int("limit.per_day", 1);
    if (err == SHOAL_OK) err = set_text("expires", "2030-01-01");
    return err;
}

// The fields every other recipe has.
static inline shoal_err start_any_recipe(const char *mechanism, const char *value)
{
    shoal_err err = start_joint_recipe();
    if (err == SHOAL_OK) err = set_text("value", value);
    if (err == SHOAL_OK) err = set_text("mechanism", mechanism);
    return err;
}

static inline shoal_err start_recipe(const char *mechanism, int64_t eps_micro)
{
    shoal_err err = start_any_recipe(mechanism, "word");
    return err == SHOAL_OK ? set_micro("parameters.epsilon", eps_micro) : err;
}

static inline shoal_err sketch_recipe(shoal_recipe *recipe, const char *mechanism,
                                      int64_t eps_micro, uint32_t k, uint32_t m)
{
    shoal_err err = start_recipe(mechanism, eps_micro);
    if (err == SHOAL_OK) err = set_text("hash", "poly1");
    if (err == SHOAL_OK) err = set_text("seed", TEST_SEED);
    if (err == SHOAL_OK) err = set_int("parameters.k", k);
    if (err == SHOAL_OK) err = set_int("parameters.m", m);
    return end_recipe(recipe, err);
}

static inline shoal_err onehot_recipe(shoal_recipe *recipe, int64_t eps_micro, uint32_t size)
{
    shoal_err err = start_recipe("onehot-asymmetric", eps_micro);
    if (err == SHOAL_OK) err = set_int("parameters.size", size);
    return end_recipe(recipe, err);
}

#endif
