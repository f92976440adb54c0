// SPDX-License-Identifier: Apache-2.0
// Writes the recipe of a planned mechanism (plan.h).
#ifndef PLAN_RECIPE_H
#define PLAN_RECIPE_H

#include "plan.h"
#include "text_list.h"

#define AGG_PLAN_COHORT 1000u // minimum cohort of such a recipe

// Writes the recipe of the plan's best candidate to a file, with a fresh random seed. The text is
// read back before anything is written.
//   path: NULL or "-" is standard output
//   values: wish->size values, of a list that was read; NULL where values are known by number
//   expires: the last day, or NULL: in 180 days
agg_err agg_plan_recipe_write(agg_error *error, const char *path, const agg_plan *plan,
                              const agg_plan_wish *wish, const agg_text *values,
                              const char *expires) SHOAL_MUST_CHECK;

#endif
