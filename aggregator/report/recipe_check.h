// SPDX-License-Identifier: Apache-2.0
// What a recipe costs a person, in print.
#ifndef RECIPE_CHECK_H
#define RECIPE_CHECK_H

#include "recipe_json.h"

// Prints id, hash, mechanism, size of a record, and epsilon of a report, a day and a person; what a
// number's range becomes; whether the central epsilon that it claims follows from its minimum
// cohort, and the smallest cohort from which it would. Warns of listed values that the text rule
// changes, and where the recipe has expired.
//   today: days since 1970-01-01 UTC
void recipe_check_print(const agg_recipe *recipe, uint32_t today);

#endif
