// SPDX-License-Identifier: Apache-2.0
// The part of a recipe that a question is about: a variable, or a field of its events.
#ifndef RECIPE_VIEW_H
#define RECIPE_VIEW_H

#include "recipe_json.h"

// Finds what is counted: the recipe itself or, of a recipe with variables, one of these as a recipe
// of its own. agg_recipe_view_release ends it.
//   variable: its name; NULL for a recipe without variables
// Returns: AGG_ERR_USAGE where the recipe has variables and none is named, or has not that one.
agg_err agg_recipe_view_of(const agg_recipe **view, agg_error *error, const agg_recipe *recipe,
                           const char *variable) SHOAL_MUST_CHECK;
void agg_recipe_view_release(const agg_recipe *view, const agg_recipe *recipe);

// Writes 1 + the index of a field that the recipe encodes; 0 without a name.
// Returns: AGG_ERR_USAGE where it encodes no such field.
agg_err agg_recipe_find_field(uint32_t *by, agg_error *error, const agg_recipe *recipe,
                              const char *name) SHOAL_MUST_CHECK;

#endif
