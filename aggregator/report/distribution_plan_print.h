// SPDX-License-Identifier: Apache-2.0
// Prints the plan of a distribution as a table for people and as JSON.
//
// JSON: {"schema":1,"n","epsilon","crowd","low","high","judged_by","rows":[{"mechanism","size",
// "parameters","distance","quantiles":[{"p","value","error"}...]}...]}, the best first; size is
// null for square waves, which have no buckets. Values and errors are in the number's unit,
// distances are shares of the range.
#ifndef DISTRIBUTION_PLAN_PRINT_H
#define DISTRIBUTION_PLAN_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "agg_error.h"
#include "distribution_plan.h"

typedef struct agg_distribution_planned {
    const agg_distribution_plan *plan; // of at least one candidate
    const agg_distribution_wish *wish;
    bool is_json;
} agg_distribution_planned;

// Writes the plan.
// Returns: AGG_ERR_IO when the stream fails.
agg_err agg_distribution_plan_print(FILE *stream, agg_error *error,
                                    const agg_distribution_planned *planned) SHOAL_MUST_CHECK;

#endif
