// SPDX-License-Identifier: Apache-2.0
// Discovered strings as text: JSON, NDJSON, CSV, and a table for a terminal. Values are hostile
// text and are escaped for each, as of an estimate.
#ifndef DISCOVER_PRINT_H
#define DISCOVER_PRINT_H

#include <stdio.h>

#include "discover.h"
#include "guarantee.h"
#include "print_text.h"

typedef struct agg_discovery_result {
    const agg_discovery *discovery;
    const agg_guarantee *guarantee; // of the round that promises least; NULL: nothing is said
    size_t n_rounds;
} agg_discovery_result;

// Writes a result. Numbers are those of agg_estimate_print.
//   JSON:
//   {"schema":1,"recipe","recipe_hash","n","epsilon","confidence","method","rounds","fdr","threshold","known","candidates","notes","cuts",
//   "guarantees","rows":[{"value","count","stderr","low","high","detected","found"}...]} and a
//   newline; "threshold" where there is one, "rounds" where there are several; before "guarantees"
//   "withheld", where the recipe has a release threshold. Every row is detected: others are not
//   shown. A table ends with the guarantees; NDJSON and CSV are rows only. Notes and cuts are in
//   JSON alone.
// Returns: AGG_ERR_IO when the stream fails.
agg_err agg_discovery_print(FILE *stream, agg_error *error, const agg_discovery_result *result,
                            agg_format format) SHOAL_MUST_CHECK;

#endif
