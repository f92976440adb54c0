// SPDX-License-Identifier: Apache-2.0
// Numbers of drafts: reads options with a default, and writes defaults as a recipe does. Private to
// draft/.
#ifndef DRAFT_NUMBERS_H
#define DRAFT_NUMBERS_H

#include <stdint.h>

#include "agg_error.h"
#include "recipe_options.h"

// Reads an option's whole number in [low, high].
//   text: NULL gives `initial`
// Returns: AGG_ERR_USAGE naming the option.
agg_err draft_read_whole(uint64_t *number, agg_error *error, const char *name, const char *text,
                         uint64_t initial, uint64_t low, uint64_t high) SHOAL_MUST_CHECK;

// Reads the option of a whole parameter in its row's range; without the option, its default.
//   name: of the parameter, which must be there
// Returns: AGG_ERR_USAGE naming the option.
agg_err draft_read_parameter(uint64_t *number, agg_error *error, const recipe_options *options,
                             const char *name) SHOAL_MUST_CHECK;

// Reads the option of a parameter in micro-units; without the option, its default or 0.
agg_err draft_read_micro(double *number, agg_error *error, const recipe_options *options,
                         const char *name) SHOAL_MUST_CHECK;

// Reads the option --devices (default 1,000,000).
agg_err draft_read_devices(double *devices, agg_error *error, const char *text) SHOAL_MUST_CHECK;

// Writes micro-units as a decimal without trailing zeros, or a whole number.
void draft_put_micro(char out[24], uint32_t micro);
void draft_put_whole(char out[16], uint32_t number);

#endif
