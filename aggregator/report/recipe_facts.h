// SPDX-License-Identifier: Apache-2.0
// Prints as JSON what `shoal recipe check` prints as lines: what recipes cost a person.
#ifndef RECIPE_FACTS_H
#define RECIPE_FACTS_H

#include <stdbool.h>

#include "policy_json.h"
#include "recipe_json.h"
#include "set_json.h"

// Prints one recipe as an object, without an end of line.
//   path: file that it was read from
//   policy: policy that judges it, if it is a query; NULL: none
//   today: days since 1970-01-01 UTC
// Returns: the exit code of the signature, or of the policy's verdict, as recipe_signer_print and
//   recipe_policy_print have it.
int recipe_facts_print(const char *path, const agg_recipe *recipe, const agg_policy *policy,
                       uint32_t today);

// Prints a set, or recipes that are held against a budget, as an object, without an end of line.
//   path: file of the set; NULL: recipes that a command line names
// Returns: false if they exceed the budget.
bool recipe_set_facts_print(const char *path, const agg_set *set, uint32_t today);

// Prints a file that is no recipe as an object with its error, without an end of line.
void recipe_facts_print_error(const char *path, const agg_error *error);

#endif
