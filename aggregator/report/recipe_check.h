// SPDX-License-Identifier: Apache-2.0
// Prints what a recipe costs a person.
#ifndef RECIPE_CHECK_H
#define RECIPE_CHECK_H

#include "recipe_json.h"

// Prints id, hash, mechanism, size of a record, and epsilon of a report, a day and a person. For a
// number it prints what becomes of the range. It also prints whether the claimed central epsilon
// follows from the minimum cohort, and the smallest cohort for which it would. Warns of listed
// values that the text rule changes, and of an expired recipe.
//   today: days since 1970-01-01 UTC
void recipe_check_print(const agg_recipe *recipe, uint32_t today);

#endif
