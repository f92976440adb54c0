// SPDX-License-Identifier: Apache-2.0
// A new recipe from command-line options, for every mechanism of the registry: what a mechanism
// needs in a domain is read off its descriptor, so that a new one needs nothing here.
#ifndef RECIPE_NEW_H
#define RECIPE_NEW_H

#include "agg_error.h"
#include "recipe_options.h"

// Writes the recipe to options->output (NULL or "-": standard output), with a fresh random seed
// where the mechanism needs one. It is read back first, and refused as a recipe file would be.
agg_err recipe_new(agg_error *error, const recipe_options *options) SHOAL_MUST_CHECK;

#endif
