// SPDX-License-Identifier: Apache-2.0
// Prints the plan of a run over epochs as a table for people and as JSON.
//
// JSON: {"schema":1,"mechanism","votes","estimates","updates_needed","epsilon_vote",
// "epsilon_estimate","epsilon","changes","stderr","bound","never_voted","waits":[{"above",
// "epochs"}...]}; a figure that does not exist is null.
#ifndef TRACK_PLAN_PRINT_H
#define TRACK_PLAN_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "agg_error.h"
#include "track_law.h"

typedef struct agg_track_plan {
    const agg_track_law *law; // law of a possible run
    double change;            // the change in question, as a fraction of the range; NAN: none
} agg_track_plan;

// Writes the plan.
// Returns: AGG_ERR_IO when the stream fails.
agg_err agg_track_plan_print(FILE *stream, agg_error *error, const agg_track_plan *plan,
                             bool is_json) SHOAL_MUST_CHECK;

#endif
