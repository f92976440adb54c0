// SPDX-License-Identifier: Apache-2.0
// Prints plans of discovery as a table for people and as JSON.
//
// JSON: {"schema":1,"answer","devices","epsilon","sfp":{"oracle","epsilon","epsilon_fragment","k",
// "m","k_fragment","m_fragment","length","share"},"trie":{"epsilon","contributions","share",
// "words","rounds":[{"depth","step","devices","starts","cells","share"}...]}}.
#ifndef DISCOVERY_PLAN_PRINT_H
#define DISCOVERY_PLAN_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "discovery_plan.h"

// Writes the plan.
// Returns: AGG_ERR_IO when the stream fails.
agg_err agg_discovery_plan_print(FILE *stream, agg_error *error, const agg_discovery_plan *plan,
                                 bool is_json) SHOAL_MUST_CHECK;

#endif
