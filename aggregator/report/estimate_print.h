// SPDX-License-Identifier: Apache-2.0
// Results as text: JSON, NDJSON, CSV, and a table for a terminal. Values are hostile text and are
// escaped for each.
#ifndef ESTIMATE_PRINT_H
#define ESTIMATE_PRINT_H

#include <stdio.h>

#include "estimate.h"

typedef enum agg_format { AGG_TABLE = 0, AGG_JSON, AGG_NDJSON, AGG_CSV } agg_format;

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

// Writes a JSON string literal, quotes included. Bytes that are not UTF-8 become U+FFFD; < > & are
// escaped as well.
void agg_print_json_text(FILE *stream, const char *bytes, size_t len);

// Writes text that a terminal shows as it is: control characters, bidirectional overrides and
// broken UTF-8 become \xHH.
void agg_print_terminal_text(FILE *stream, const char *bytes, size_t len);

// Returns: the columns that agg_print_terminal_text takes.
size_t agg_terminal_width(const char *bytes, size_t len);

#define AGG_TABLE_VALUE_MAX ((size_t)48) // columns that values may widen a table to

// The same, padded with blanks to `width` columns.
void agg_print_cell(FILE *stream, const char *bytes, size_t len, size_t width);

// Writes a quoted CSV cell.
void agg_print_csv_text(FILE *stream, const char *bytes, size_t len);

// Returns: the decimals, 0 to 9, that show two digits of an error.
int agg_error_decimals(double error);

// Writes the shortest decimal of at most 17 digits that reads back as x (finite).
void agg_print_number(FILE *stream, double x);

#endif
