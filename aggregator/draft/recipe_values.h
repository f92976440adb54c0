// SPDX-License-Identifier: Apache-2.0
// Prints members of a new recipe that are read from files.
#ifndef RECIPE_VALUES_H
#define RECIPE_VALUES_H

#include <stdint.h>
#include <stdio.h>

#include "agg_error.h"

// Returns: the reason why a value cannot be listed, as the end of a sentence, or NULL.
const char *recipe_value_fault(const char *text, size_t len);

// Counts the lines of such a file.
// Returns: as agg_file_read.
agg_err recipe_count_values(uint64_t *n, agg_error *error, const char *path) SHOAL_MUST_CHECK;

// Writes `"values": [...]` from a file with one value on each line.
// Returns: AGG_ERR_USAGE naming the line for a value that no list can hold, or for a list of fewer
// than two values.
agg_err recipe_print_values(FILE *stream, agg_error *error, const char *path) SHOAL_MUST_CHECK;

// Writes the member `encoding` from a file that holds its JSON array, byte for byte.
// Returns: AGG_ERR_JSON or SHOAL_ERR_TYPE for a file that does not hold a JSON array.
agg_err recipe_print_encoding(FILE *stream, agg_error *error, const char *path) SHOAL_MUST_CHECK;

#endif
