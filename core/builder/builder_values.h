// SPDX-License-Identifier: Apache-2.0
// Sets the list parameters.values of a recipe or of a variable. The header is private to the core.
#ifndef SHOAL_BUILDER_VALUES_H
#define SHOAL_BUILDER_VALUES_H

#include "builder.h"

// Adds the next entry for the variable that is being set, or for the recipe.
shoal_err shoal_builder_add_own_value(shoal_recipe_builder *builder, const char *text,
                                      size_t len) SHOAL_MUST_CHECK;

// Checks that list, hash, range and value fit the mechanism's needs. Modules that carry only
// queries do not link this check, because all their values are cells of the encoding.
shoal_err shoal_builder_check_value(shoal_recipe_builder *builder) SHOAL_MUST_CHECK;

#endif
