// SPDX-License-Identifier: Apache-2.0
// Moments in UTC as people write them: 2026-11-21, 2026-11-21T14:00Z, or seconds since 1970.
#ifndef DAP_MOMENT_H
#define DAP_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "agg_error.h"

#define AGG_DAP_MOMENT_LEN 18 // "2026-11-21T14:00Z" and a NUL

// Reads a moment.
//   name: the option's name, for the error
//   is_end: a day stands for the second after its last one, otherwise for its first second
// Returns: AGG_ERR_USAGE for any other text.
agg_err agg_dap_moment_read(uint64_t *seconds, agg_error *error, const char *name, const char *text,
                            bool is_end) SHOAL_MUST_CHECK;

// Writes a moment to the minute. A moment after the year 9999 is written as the last minute of that
// year.
void agg_dap_moment_print(char out[AGG_DAP_MOMENT_LEN], uint64_t seconds);

#endif
