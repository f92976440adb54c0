// SPDX-License-Identifier: Apache-2.0
// Prints a funnel as a table for a terminal, JSON, NDJSON, CSV, Arrow or SVG. Names come from the
// recipe.
//
// JSON is one object: {"schema":1, "recipe", "recipe_hash", "n", "epsilon", "confidence",
// "astray":{"share", "stderr", "low", "high"}, "converged", "rows":[{"step", "count", "share",
// "stderr", "low", "high", "rate", "rate_stderr", "rate_low", "rate_high"}...]} and the members of
// alarm_print.h, "guarantees" (guarantee_print.h) where the result has them and, where shards are
// missing, "incomplete". A share is of all reports, a rate of
// the devices of the step before; the first step has no rate. What is below the recipe's release
// threshold, or not determined by the reports, is null.
//
// NDJSON, CSV and Arrow are the rows.
#ifndef FUNNEL_PRINT_H
#define FUNNEL_PRINT_H

#include <stdio.h>

#include "joint_analysis.h"

typedef enum agg_funnel_format {
    AGG_FUNNEL_TABLE = 0,
    AGG_FUNNEL_JSON,
    AGG_FUNNEL_NDJSON,
    AGG_FUNNEL_CSV,
    AGG_FUNNEL_ARROW,
    AGG_FUNNEL_SVG
} agg_funnel_format;

// Prints the chain of a joint result, which has one.
// Returns: AGG_ERR_IO if the stream fails.
// Privacy: the release threshold is enforced here: a step below it is withheld with the rates that
// it would follow from.
agg_err agg_funnel_print(FILE *stream, agg_error *error, const agg_joint_result *result,
                         agg_funnel_format format) SHOAL_MUST_CHECK;

// Draws the funnel (funnel_svg.c). Private to funnel_print.c.
void agg_funnel_draw(FILE *stream, const agg_joint_result *result);

#endif
