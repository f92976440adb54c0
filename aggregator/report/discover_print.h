// SPDX-License-Identifier: Apache-2.0
// Prints discovered strings as JSON, NDJSON, CSV, or a table for a terminal. Values are hostile
// text and are escaped (print_text.h).
#ifndef DISCOVER_PRINT_H
#define DISCOVER_PRINT_H

#include <stdio.h>

#include "discover.h"
#include "guarantee.h"
#include "print_text.h"

typedef struct agg_discovery_result {
    const agg_discovery *discovery;
    const agg_guarantee *guarantee; // of the round with the weakest guarantee; may be NULL
    size_t n_rounds;
    agg_shards_about shards; // of the manifests of all rounds
} agg_discovery_result;

// Prints a result. Numbers are as in estimate_print.h. Every row is detected; other rows are not
// printed.
//
// JSON is one object and a newline: {"schema":1, "recipe", "recipe_hash", "n", "incomplete",
// "epsilon",
// "confidence", "method", "rounds", "fdr", "threshold", "known", "candidates", "notes", "cuts",
// "withheld", "guarantees", "rows":[{"value", "count", "stderr", "low", "high", "detected",
// "found"}...]}. "threshold" is there if there is one, "rounds" if there are several, "withheld" if
// the recipe has a release threshold. NDJSON and CSV are rows only. A table ends with the
// guarantees.
//
// Returns: AGG_ERR_IO if the stream fails.
agg_err agg_discovery_print(FILE *stream, agg_error *error, const agg_discovery_result *result,
                            agg_format format) SHOAL_MUST_CHECK;

#endif
