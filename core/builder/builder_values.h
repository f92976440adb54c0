// SPDX-License-Identifier: Apache-2.0
// The list parameters.values of a recipe or of a variable. Private to the core.
#ifndef SHOAL_BUILDER_VALUES_H
#define SHOAL_BUILDER_VALUES_H

#include "builder.h"

// Adds the next entry, of the variable that is being set or of the recipe.
shoal_err shoal_builder_add_own_value(shoal_recipe_builder *builder, const char *text,
                                      size_t len) SHOAL_MUST_CHECK;

// Checks that list, hash, range and value go with what the mechanism needs. Modules that carry only
// queries link no such check: there every value is a cell of the encoding.
shoal_err shoal_builder_check_value(shoal_recipe_builder *builder) SHOAL_MUST_CHECK;

#endif
