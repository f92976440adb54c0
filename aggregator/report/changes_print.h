// SPDX-License-Identifier: Apache-2.0
// Prints changes over periods as JSON, NDJSON, CSV, Arrow, a table for a terminal, and a picture.
// Values and labels are hostile text and are escaped (print_text.h, svg.h).
#ifndef CHANGES_PRINT_H
#define CHANGES_PRINT_H

#include <stdio.h>

#include "changes.h"
#include "guarantee.h"
#include "print_text.h"

typedef struct agg_changes_result {
    const agg_changes *changes;
    const agg_guarantee *guarantee; // of the smallest period
} agg_changes_result;

// Prints changes. Shares are fractions, and in the table in %. What a row does not have is null in
// JSON and empty in CSV: the date and the shares of a row that is not detected, and what is
// withheld.
//
// JSON is one object and a newline: {"schema":1, "periods":[{"label", "recipe", "recipe_hash",
// "n"}...], "gaps":[{"after", "before"}...], "epsilon", "confidence", "multiple", "shared_rows",
// "withheld", "guarantee", "selection":{...}, "rows":[...]}. "gaps" are labels between which
// periods are missing. "selection" is that of all intervals.
//
// Returns: AGG_ERR_IO if the stream fails.
agg_err agg_changes_print(FILE *stream, agg_error *error, const agg_changes_result *result,
                          agg_format format) SHOAL_MUST_CHECK;

// Draws the series of the first detected rows, at most 6, each with its shares, their errors, the
// levels before and after, and the dates of the change.
// Returns: AGG_ERR_IO if the stream fails.
agg_err agg_changes_svg(FILE *stream, agg_error *error,
                        const agg_changes *changes) SHOAL_MUST_CHECK;

#endif
