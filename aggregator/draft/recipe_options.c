// SPDX-License-Identifier: Apache-2.0
// Options by the names of parameters; see recipe_options.h.
#include "recipe_options.h"

#include <assert.h>

const char **recipe_option_of(recipe_options *options, const char *name)
{
    recipe_parameter p;
    size_t i = recipe_parameter_find(&p, name);
    return i < RECIPE_PARAMETERS_MAX ? &options->parameters[i] : NULL;
}

const char *recipe_option(const recipe_options *options, const char *name)
{
    recipe_parameter p;
    size_t i = recipe_parameter_find(&p, name);
    assert(i < RECIPE_PARAMETERS_MAX);
    return options->parameters[i];
}
