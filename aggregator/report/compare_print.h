// SPDX-License-Identifier: Apache-2.0
// Prints comparisons as JSON, NDJSON, CSV, or a table for a terminal. Values are hostile text and
// are escaped (print_text.h).
#ifndef COMPARE_PRINT_H
#define COMPARE_PRINT_H

#include <stdio.h>

#include "compare.h"
#include "print_text.h"

// Prints a comparison. A withheld number is null in JSON, empty in CSV, and "withheld" in the
// table.
//
// JSON is one object and a newline: {"schema":1, "a":{"recipe", "recipe_hash", "n", "epsilon"},
// "b":{...}, "of", "confidence", "multiple", "withheld", "guarantees":{"a", "b",
// "both":{"epsilon", "delta"}}, "rows":[...]}. "withheld" is the number of values that both sides
// withhold, and is there if a recipe has a release threshold. "a" and "b" of the guarantees are as
// in guarantee_print.h. A table ends with the guarantees.
//
// Returns: AGG_ERR_IO if the stream fails.
agg_err agg_compare_print(FILE *stream, agg_error *error, const agg_compare *compare,
                          agg_format format) SHOAL_MUST_CHECK;

#endif
