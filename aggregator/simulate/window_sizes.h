// SPDX-License-Identifier: Apache-2.0
// How many events a simulated window has, from text.
#ifndef WINDOW_SIZES_H
#define WINDOW_SIZES_H

#include "window_simulation.h"

// Reads "EVENTS" or "EVENTS:WEIGHT", several separated by commas.
//   windows: has no sizes yet
//   text: NULL: one event
// Returns: AGG_ERR_USAGE.
agg_err agg_windows_read_sizes(agg_windows *windows, agg_error *error,
                               const char *text) SHOAL_MUST_CHECK;

#endif
