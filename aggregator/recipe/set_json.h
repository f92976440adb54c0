// SPDX-License-Identifier: Apache-2.0
// Reads a site's recipe set (JSON): an object with `recipes`, a list of recipes, and, as the site
// needs them, `budget` ({"epsilon": E, "days": D}), `runs`, the recipe of one epoch of each run,
// and `policy`. Recipes and policy are read as from files of their own.
#ifndef SET_JSON_H
#define SET_JSON_H

#include <stdbool.h>

#include "agg_error.h"
#include "policy_json.h"
#include "recipe_json.h"
#include "recipe_set.h"

#define AGG_SET_FILE_MAX ((size_t)1 << 22) // bytes of a set's file

typedef struct agg_set {
    shoal_recipe_set set;
    char hash_hex[65]; // written by agg_set_from_bytes; NUL-terminated
    // The names of recipes and runs, in the order in which they were added.
    uint32_t n_names;
    struct {
        uint8_t hash[32];
        char id[SHOAL_NAME_MAX + 1]; // NUL-terminated
    } names[SHOAL_SET_MEMBERS_MAX];
} agg_set;

// Starts a set without members and without a budget.
void agg_set_init(agg_set *set);

// Adds a recipe.
//   name: begins the text of an error
agg_err agg_set_add(agg_set *set, agg_error *error, const char *name,
                    const agg_recipe *recipe) SHOAL_MUST_CHECK;

// States the budget that is written as "EPSILON/DAYS".
agg_err agg_set_budget(agg_set *set, agg_error *error, const char *text) SHOAL_MUST_CHECK;

// Returns: the name of a member: of an analysis its own, else the recipe's.
//   length: set to the name's bytes
const char *agg_set_name(int *length, const agg_set *set, const shoal_set_member *member);

// Returns: whether a file is one JSON object with the member `recipes`, so that it is meant to be a
// set. A file that cannot be read is none.
bool agg_set_is_one(const char *path);

// Reads a set; there is nothing to release.
//   name: the name of the bytes in errors
agg_err agg_set_from_bytes(agg_set *set, agg_error *error, const char *name, const char *bytes,
                           size_t len) SHOAL_MUST_CHECK;
agg_err agg_set_from_file(agg_set *set, agg_error *error, const char *path) SHOAL_MUST_CHECK;

#endif
