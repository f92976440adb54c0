// SPDX-License-Identifier: Apache-2.0
// Prints estimates as JSON, NDJSON, CSV, or a table for a terminal. Values are hostile text and are
// escaped (print_text.h).
#ifndef ESTIMATE_PRINT_H
#define ESTIMATE_PRINT_H

#include <stdio.h>

#include "estimate.h"
#include "print_text.h"

// Prints an estimate. A number has the fewest digits, at most 17, that read back as the same
// double.
//
// JSON is one object and a newline: {"schema":1, "recipe", "recipe_hash", "n", "epsilon",
// "confidence", "multiple", "rows":[...]}, and before "rows", if they apply:
//   "incomplete":{"shards", "missing"}  where shards of a manifest are missing, and the caller
//                             allowed that
//   "post":{"name", "note"}   post-processing; rows then have "raw"
//   "unit":"windows", "design_effect"  where reports answer for windows (window_picks.h); counts
//   are
//                             of reports elsewhere
//   "withheld"                the number of withheld rows, if the recipe has a release threshold
//   "variable"                the variable that is counted, in a recipe with variables
//   "by"                      the field whose buckets are the rows
//   "distribution"            distribution_print.h, where it was asked for
//   "statistic":"mean"        the row then has "mean" in place of "count", and no "detected"
//   "guarantees"              guarantee_print.h
// and the members of alarm_print.h.
//   "selection":{"selected", "of", "confidence"}  how many rows were selected, of how many, and the
//                             confidence of "fcr_low" and "fcr_high" (selection.h)
//   "adjusting"               whether rows have adjusted figures, or why not (adjust.h)
// Rows of counts end with "fcr_low", "fcr_high", "rank_low", "rank_high", "adjusted",
// "adjusted_low" and "adjusted_high". The last three may be null.
// If the recipe has an encoding, a row has "cell": the labels of its buckets, by field.
//
// NDJSON has one row a line. CSV follows RFC 4180 and has a header; a result of windows has "unit"
// after "detected". Both leave the guarantees out;
// a table ends with them.
//
// Returns: AGG_ERR_IO if the stream fails.
agg_err agg_estimate_print(FILE *stream, agg_error *error, const agg_estimate *estimate,
                           agg_format format) SHOAL_MUST_CHECK;

#endif
