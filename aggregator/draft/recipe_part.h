// SPDX-License-Identifier: Apache-2.0
// Writes the recipe of one part of a split collection, for `shoal recipe part`.
#ifndef RECIPE_PART_H
#define RECIPE_PART_H

#include "agg_error.h"

// Writes the recipe of `path` with `part` as its last member. All other bytes stay as they were, so
// its signature stays valid.
//   values: one for each field of split_by, listed there or "other"
//   output: a file; NULL or "-" is standard output
agg_err recipe_part(agg_error *error, const char *path, const char *const *values, int n_values,
                    const char *output) SHOAL_MUST_CHECK;

#endif
