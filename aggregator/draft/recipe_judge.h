// SPDX-License-Identifier: Apache-2.0
// Says of a new recipe, before it is written, what its author will regret: that it has expired
// already, that it protects a person little, or that a run or a trie will see almost nothing.
#ifndef RECIPE_JUDGE_H
#define RECIPE_JUDGE_H

#include "recipe_json.h"
#include "recipe_options.h"

// Judges a new recipe. Logs a line where a report, a day or its life is weak (verdict.h), and one
// where the planner expects that almost nothing is seen.
//   options: those of the recipe; `today` is the day of its writing, `devices` those of a trie
// Returns: SHOAL_ERR_EXPIRED if the recipe's last day is before options->today.
agg_err recipe_judge(agg_error *error, const agg_recipe *recipe,
                     const recipe_options *options) SHOAL_MUST_CHECK;

// Judges the last day of a recipe that a plan writes.
// Returns: SHOAL_ERR_EXPIRED if it has passed.
agg_err recipe_judge_day(agg_error *error, const agg_recipe *recipe) SHOAL_MUST_CHECK;

#endif
