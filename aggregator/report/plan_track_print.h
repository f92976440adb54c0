// SPDX-License-Identifier: Apache-2.0
// The plan of a run over epochs (thresh, heavythresh) as a table or as JSON: what it costs, and
// which changes it will see how late.
#ifndef PLAN_TRACK_PRINT_H
#define PLAN_TRACK_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "agg_error.h"
#include "track_law.h"

typedef struct agg_track_plan {
    shoal_evolving_plan plan;
    agg_track_law law; // of the plan
    bool is_items;     // heavythresh, else thresh
    double change;     // a change to ask about; 0: none
} agg_track_plan;

// Prints a plan. Returns: AGG_ERR_IO.
agg_err agg_track_plan_print(FILE *stream, agg_error *error, const agg_track_plan *plan,
                             bool is_json) SHOAL_MUST_CHECK;

#endif
