// SPDX-License-Identifier: Apache-2.0
// Writes a new recipe from command-line options. Descriptors say what each mechanism of the
// registry needs, so a new mechanism needs no change here.
#ifndef RECIPE_NEW_H
#define RECIPE_NEW_H

#include "agg_error.h"
#include "recipe_options.h"

// Writes the recipe to options->output (NULL or "-": standard output), with a fresh random seed if
// the mechanism needs one. The text is read back first and refused as a recipe file would be, or if
// it has expired (recipe_judge.h).
agg_err recipe_new(agg_error *error, const recipe_options *options) SHOAL_MUST_CHECK;

#endif
