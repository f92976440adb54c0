// SPDX-License-Identifier: Apache-2.0
// How results say that shards of manifests are missing, the same everywhere.
#ifndef INCOMPLETE_PRINT_H
#define INCOMPLETE_PRINT_H

#include <stdio.h>

#include "estimate.h"
#include "result_table.h"

#define AGG_INCOMPLETE_LINE_MAX 192u // bytes with a NUL

// Writes "incomplete: 1 of 4 shards are missing".
// Returns: out
const char *agg_incomplete_line(char out[AGG_INCOMPLETE_LINE_MAX], agg_shards_about shards);

// Prints the line and a newline, if shards are missing.
void agg_incomplete_print(FILE *stream, agg_shards_about shards);

// Prints the member "incomplete":{"shards", "missing"} and a comma, if shards are missing.
void agg_incomplete_print_json(FILE *stream, agg_shards_about shards);

// States the number of shards, and of the missing ones, by these names, if shards are missing.
void agg_incomplete_state(agg_table *table, agg_shards_about shards, const char *n_name,
                          const char *missing_name);

#endif
