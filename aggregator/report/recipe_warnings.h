// SPDX-License-Identifier: Apache-2.0
// Finds likely mistakes in a valid recipe.
#ifndef RECIPE_WARNINGS_H
#define RECIPE_WARNINGS_H

#include "recipe_json.h"

// Logs a line for each listed text that the recipe's text rule would change, since no device
// reports it. Also logs a round that no device answers, and an expired recipe.
//   today: days since 1970-01-01 UTC
void recipe_warnings_log(const agg_recipe *recipe, uint32_t today);

#endif
