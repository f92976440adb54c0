// SPDX-License-Identifier: Apache-2.0
// Checks a query against a site's policy, with the verdict of a device that has never answered a
// query. The device's own code decides (core/budget/accountant.h).
#ifndef RECIPE_POLICY_H
#define RECIPE_POLICY_H

#include "policy_json.h"
#include "recipe_json.h"

// Prints who signed the query, whether such a device answers, and the cost to its budgets; or the
// reason of a refusal.
//   today: days since 1970-01-01 UTC
// Returns: an exit code; AGG_EXIT_PRIVACY if the signature or the checks refuse the query.
int recipe_policy_print(const agg_recipe *recipe, const agg_policy *policy, uint32_t today);

// The same as members of a JSON object, each after a comma: `policy`, with the name of the refusal.
// Returns: the same exit code.
int recipe_policy_print_json(const agg_recipe *recipe, const agg_policy *policy, uint32_t today);

#endif
