// SPDX-License-Identifier: Apache-2.0
// Refuses two accumulators that contain the same reports, for results that take their errors to be
// independent. Claims and manifests tell where both accumulators list what they count. Else, two
// different collections never agree in all cells, except in a sketch with a single cell. An
// overlap, such as a day and its week, is seen by claims only.
#ifndef APART_H
#define APART_H

#include "accumulator.h"
#include "agg_error.h"
#include "recipe_json.h"

// Returns: AGG_ERR_USAGE, naming what both hold.
//   recipe: of x, named in the error
agg_err agg_check_apart(agg_error *error, const agg_recipe *recipe, const agg_accumulator *x,
                        const agg_accumulator *y) SHOAL_MUST_CHECK;

#endif
