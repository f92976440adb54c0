// SPDX-License-Identifier: Apache-2.0
// The list parameters.values of a recipe or of a variable. Private to the core.
#ifndef SHOAL_BUILDER_VALUES_H
#define SHOAL_BUILDER_VALUES_H

#include "builder.h"

// Adds the next entry, of the variable that is being set or of the recipe.
shoal_err shoal_builder_add_own_value(shoal_recipe_builder *builder, const char *text,
                                      size_t len) SHOAL_MUST_CHECK;

#endif
