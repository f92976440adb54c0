// SPDX-License-Identifier: Apache-2.0
// Prints what a recipe costs a person in privacy.
#ifndef RECIPE_COST_H
#define RECIPE_COST_H

#include "recipe_ref.h"

// Prints epsilon of a report, of a day and of a person, the minimum cohort, and whether the claimed
// central epsilon follows from that cohort.
//   today: days since 1970-01-01 UTC
void recipe_cost_print(const shoal_recipe *recipe, uint32_t today);

#endif
