// SPDX-License-Identifier: Apache-2.0
// Writes a new recipe from command-line options. Descriptors say what each mechanism of the
// registry needs, so that a new mechanism needs no change here.
#ifndef RECIPE_NEW_H
#define RECIPE_NEW_H

#include "agg_error.h"
#include "recipe_options.h"

// Writes the recipe to options->output (NULL or "-": standard output), with a fresh random seed
// where the mechanism needs one. It is read back first, and refused as a recipe file would be.
agg_err recipe_new(agg_error *error, const recipe_options *options) SHOAL_MUST_CHECK;

#endif
