// SPDX-License-Identifier: Apache-2.0
// Metrics of leader and helper in the text format of Prometheus: numbers by task, and nothing about
// any report.
#ifndef DAP_METRICS_H
#define DAP_METRICS_H

#include <stdio.h>

#include "dap_party.h"

// Writes the counters since the start and the counts of the store.
// Returns: an error when the store cannot be read. The caller checks the stream when it closes it.
agg_err agg_dap_metrics_print(FILE *stream, agg_error *error,
                              const agg_dap_party *party) SHOAL_MUST_CHECK;

#endif
