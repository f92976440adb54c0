// SPDX-License-Identifier: Apache-2.0
// A query held against a site's policy: what a device that never answered one would say. Decided by
// the device's own code, core/budget/accountant.h.
#ifndef RECIPE_POLICY_H
#define RECIPE_POLICY_H

#include "policy_json.h"
#include "recipe_json.h"

// Prints who signed, whether such a device answers, and what it costs the budgets; or why not.
//   today: days since 1970-01-01 UTC
// Returns: exit code; AGG_EXIT_PRIVACY where the query would be refused, by its signature or by the
// checks.
int recipe_policy_print(const agg_recipe *recipe, const agg_policy *policy, uint32_t today);

#endif
