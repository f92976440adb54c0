// SPDX-License-Identifier: Apache-2.0
// Draws a fresh seed for a new recipe, and writes a recipe's text to a file.
#ifndef RECIPE_WRITE_H
#define RECIPE_WRITE_H

#include <stddef.h>

#include "agg_error.h"

// Draws 32 random bytes from the system and writes them as hex digits and a NUL.
// Returns: AGG_ERR_IO if the system returns no random bytes.
agg_err recipe_fresh_seed(char seed_hex[65], agg_error *error) SHOAL_MUST_CHECK;

// Writes a recipe's text to a file, which appears when it is complete.
//   path: NULL or "-" is standard output
// Returns: AGG_ERR_IO when the file cannot be written.
agg_err recipe_write(agg_error *error, const char *path, const char *text,
                     size_t len) SHOAL_MUST_CHECK;

#endif
