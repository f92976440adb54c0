// SPDX-License-Identifier: Apache-2.0
// What leader and helper count, as Prometheus reads it: numbers by task, and nothing of any report.
#ifndef DAP_METRICS_H
#define DAP_METRICS_H

#include <stdio.h>

#include "dap_party.h"

// Writes counters since the start, and what the store holds.
// Returns: an error where the store could not be read; whether the stream took it is for whoever
// closes it to ask
agg_err agg_dap_metrics_print(FILE *stream, agg_error *error,
                              const agg_dap_party *party) SHOAL_MUST_CHECK;

#endif
