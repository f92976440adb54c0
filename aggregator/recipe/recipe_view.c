// SPDX-License-Identifier: Apache-2.0
// Finds variables and fields by name; see recipe_view.h.
#include "recipe_view.h"

#include <stdlib.h>
#include <string.h>

#include "recipe.h"

agg_err agg_recipe_view_of(const agg_recipe **view, agg_error *error, const agg_recipe *recipe,
                           const char *variable)
{
    *view = recipe;
    if (recipe->recipe->n_variables == 0 && variable == NULL) return SHOAL_OK;
    if (recipe->recipe->n_variables == 0)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "--variable: recipe %s has no variables", recipe->id);
    if (variable == NULL)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "recipe %s has %u variables: --variable NAME says which, shoal joint "
                        "estimates them together",
                        recipe->id, recipe->recipe->n_variables);
    uint32_t i = agg_recipe_find_variable(recipe, variable, strlen(variable));
    if (i == recipe->recipe->n_variables)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "--variable: recipe %s has no such variable", recipe->id);
    *view = agg_recipe_of_variable(error, recipe, i);
    return *view != NULL ? SHOAL_OK : AGG_ERR_MEMORY;
}

void agg_recipe_view_release(const agg_recipe *view, const agg_recipe *recipe)
{
    if (view != recipe) free((void *)(uintptr_t)view);
}

agg_err agg_recipe_find_field(uint32_t *by, agg_error *error, const agg_recipe *recipe,
                              const char *name)
{
    const shoal_encoding *encoding = &recipe->recipe->encoding;
    *by = 0;
    if (name == NULL) return SHOAL_OK;
    for (uint32_t i = 0; i < encoding->n_fields; i++)
        if (shoal_text_equal(name, encoding->fields[i].field.bytes, encoding->fields[i].field.len))
            *by = i + 1;
    if (*by > 0) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "--by: recipe %s encodes no such field",
                    recipe->id);
}
