// SPDX-License-Identifier: Apache-2.0
// What is likely to be a mistake in a recipe that is otherwise good.
#ifndef RECIPE_WARNINGS_H
#define RECIPE_WARNINGS_H

#include "recipe_json.h"

// Logs a line for each listed text that the recipe's text rule would change, so that no device
// reports it; for a round that no device answers; and where the recipe has expired.
//   today: days since 1970-01-01 UTC
void recipe_warnings_log(const agg_recipe *recipe, uint32_t today);

#endif
