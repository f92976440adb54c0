// SPDX-License-Identifier: Apache-2.0
// Plans as text: for a person, and as JSON.
#ifndef PLAN_PRINT_H
#define PLAN_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "agg_error.h"
#include "plan.h"

// Writes a plan.
//   is_all: every mechanism's best, not the answer alone
//   width: of a mean's range, in the units of the number; else 1
// JSON:
// {"schema":1,"answer":NAME|"nothing","why","devices","reports","epsilon",...,"candidates":[...]}
// and a newline; the first candidate is the answer or, where that is "nothing", what comes closest.
// Numbers read back as the same double. Returns: AGG_ERR_IO when the stream fails.
agg_err agg_plan_print(FILE *stream, agg_error *error, const agg_plan *plan,
                       const agg_plan_wish *wish, bool is_json, bool is_all,
                       double width) SHOAL_MUST_CHECK;

#endif
