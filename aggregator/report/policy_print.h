// SPDX-License-Identifier: Apache-2.0
// A policy in words, on standard output.
#ifndef POLICY_PRINT_H
#define POLICY_PRINT_H

#include "policy_json.h"

// Prints who may sign queries, the streams, and for each analysis and field the budgets, what a
// person gives away at most, and how many queries fit.
void agg_policy_print(const agg_policy *policy);

#endif
