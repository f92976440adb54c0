// SPDX-License-Identifier: Apache-2.0
// Results as text: JSON, NDJSON, CSV, and a table for a terminal. Values are hostile text and are
// escaped for each.
#ifndef ESTIMATE_PRINT_H
#define ESTIMATE_PRINT_H

#include <stdio.h>

#include "estimate.h"
#include "print_text.h"

// Writes a result. Numbers have 17 significant digits at most, the shortest that read back as the
// same double.
//   JSON: {"schema":1,"recipe","recipe_hash","n","epsilon","confidence","multiple","rows":[...]}
//   and a newline; before "rows", where there is one: "post":{"name","note"} (rows then have
//   "raw"), "withheld" (how many rows; where the recipe has a release threshold), "by" (the field
//   whose buckets the rows are), "variable" (of a recipe with variables, the one that is counted),
//   "statistic":"mean" (the row then has "mean" for "count", and no "detected"), "guarantees"
//   (guarantee.h) A row of a recipe with an encoding has "cell": its buckets' labels by field. A
//   table ends with the guarantees; NDJSON and CSV are rows only, and leave them out. NDJSON: one
//   row a line. CSV: RFC 4180 with a header; a value that a spreadsheet would run gets a leading
//   apostrophe.
// Returns: AGG_ERR_IO when the stream fails.
agg_err agg_estimate_print(FILE *stream, agg_error *error, const agg_estimate *estimate,
                           agg_format format) SHOAL_MUST_CHECK;

#endif
