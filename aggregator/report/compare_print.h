// SPDX-License-Identifier: Apache-2.0
// Comparisons as text: JSON, NDJSON, CSV, and a table for a terminal; escaped as estimate_print.h
// does.
#ifndef COMPARE_PRINT_H
#define COMPARE_PRINT_H

#include <stdio.h>

#include "compare.h"
#include "print_text.h"

// Writes a comparison. A side that withholds a value is null in JSON, empty in CSV, "withheld" in
// the table.
//   JSON:
//   {"schema":1,"a":{"recipe","recipe_hash","n","epsilon"},"b":{...},"of","confidence","multiple","rows":[...]}
//   and a newline; before "rows" "withheld" (how many values both sides withhold) where a recipe
//   has a release threshold, and "guarantees":{"a","b" (each as in
//   guarantee.h),"both":{"epsilon","delta"}}. A table ends with the guarantees.
// Returns: AGG_ERR_IO when the stream fails.
agg_err agg_compare_print(FILE *stream, agg_error *error, const agg_compare *compare,
                          agg_format format) SHOAL_MUST_CHECK;

#endif
