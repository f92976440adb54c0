// SPDX-License-Identifier: Apache-2.0
// Prints how a number is spread (distribution.h): for a terminal, as a member of JSON, and as rows.
#ifndef DISTRIBUTION_PRINT_H
#define DISTRIBUTION_PRINT_H

#include <stdio.h>

#include "distribution.h"
#include "print_text.h"

// Prints the member "distribution" and a comma:
//   {"quantiles":[{"p", "value", "low", "high"}],
//    "histogram":[{"from", "to", "share", "stderr", "low", "high"}],
//    "ecdf":[{"value", "share", "stderr", "low", "high"}]}
// Shares are of all numbers, values in the recipe's units. Of a withheld bin share and errors are
// null; "ecdf" is left out where the recipe has a release threshold.
void agg_distribution_print_json(FILE *stream, const agg_distribution *distribution);

// Prints quantiles and histogram for a terminal, after an empty line.
void agg_distribution_print(FILE *stream, const agg_distribution *distribution);

// Writes the rows that distribution->rows names, as NDJSON, CSV or Arrow.
// Returns: AGG_ERR_IO if the stream fails.
agg_err agg_distribution_write(FILE *stream, agg_error *error, const agg_distribution *distribution,
                               agg_format format) SHOAL_MUST_CHECK;

#endif
