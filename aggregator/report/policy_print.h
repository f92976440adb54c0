// SPDX-License-Identifier: Apache-2.0
// Prints a policy in words on standard output.
#ifndef POLICY_PRINT_H
#define POLICY_PRINT_H

#include "policy_json.h"

// Prints who may sign queries, and the streams. For each analysis and field it prints the budgets,
// the most that a person can spend, and how many queries fit.
void agg_policy_print(const agg_policy *policy);

#endif
