// SPDX-License-Identifier: Apache-2.0
// Prints retention as a table for a terminal, JSON, NDJSON, CSV, Arrow or SVG. Labels are hostile
// text and are escaped (print_text.h, svg.h).
//
// JSON is one object: {"schema":1, "recipe", "recipe_hash", "epsilon", "confidence", "ages",
// "or_more", "weeks":[{"week", "n", "new":C, "returning":C, ...}...], "guarantees":{...} where the
// result has them (guarantee_print.h), "rows":[{"cohort", "age",
// "week", "n", "count", "stderr", "low", "high", "share", "share_stderr", "share_low",
// "share_high", "why"}...]}.
//   C is {"count", "stderr", "low", "high"}. n and C are null where there is no accumulator, and C
//   where the count is withheld. A week with an accumulator has the members of alarm_print.h, and
//   "incomplete" where shards are missing. "or_more" is null where the recipe has no such entry.
//   A row is a cohort at an age; its share is null where `why` says why. If the last entry holds
//   several ages, a row for each week follows, without a cohort and a share.
//
// NDJSON, CSV and Arrow are the rows.
#ifndef RETENTION_PRINT_H
#define RETENTION_PRINT_H

#include <stdio.h>

#include "print_text.h"
#include "retention.h"

#define AGG_RETENTION_SVG_MAX ((size_t)26) // weeks that a picture has room for

typedef enum agg_retention_format {
    AGG_RETENTION_TABLE = 0,
    AGG_RETENTION_JSON,
    AGG_RETENTION_NDJSON,
    AGG_RETENTION_CSV,
    AGG_RETENTION_ARROW,
    AGG_RETENTION_SVG
} agg_retention_format;

// Prints a retention.
// Returns: AGG_ERR_IO if the stream fails; AGG_ERR_USAGE for a picture of more weeks than it has
// room for.
agg_err agg_retention_print(FILE *stream, agg_error *error, const agg_retention *retention,
                            agg_retention_format format) SHOAL_MUST_CHECK;

// Draws the heat map of the shares (retention_svg.c). Private to retention_print.c.
agg_err agg_retention_draw(FILE *stream, agg_error *error,
                           const agg_retention *retention) SHOAL_MUST_CHECK;

#define AGG_RETENTION_NOTE_MAX 384u

// Writes line i of what readers of rows alone must know: alarms and missing shards, by week.
// Returns: false past the last line.
bool agg_retention_note(char note[AGG_RETENTION_NOTE_MAX], const agg_retention *retention,
                        size_t i);

#endif
