// SPDX-License-Identifier: Apache-2.0
// Prints plans as text for people, or as JSON.
#ifndef PLAN_PRINT_H
#define PLAN_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "agg_error.h"
#include "plan.h"

// Prints a plan.
//
// JSON is one object and a newline: {"schema":1, "answer":NAME or "nothing", "why", "devices",
// "reports", "epsilon", ..., "candidates":[...]}. The first candidate is the answer, or the closest
// one if the answer is "nothing". Numbers read back as the same double. Where the wish states the
// share of active windows: "active", "pick", what the other pick would see, and
// "openings_break_even" (agg_plan's break_even), null where uniform is closer anyway.
//
//   is_all: print the best plan of every mechanism, not the answer only
//   width: of a mean's range, in the units of the number; else 1
// Returns: AGG_ERR_IO if the stream fails.
agg_err agg_plan_print(FILE *stream, agg_error *error, const agg_plan *plan,
                       const agg_plan_wish *wish, bool is_json, bool is_all,
                       double width) SHOAL_MUST_CHECK;

#endif
