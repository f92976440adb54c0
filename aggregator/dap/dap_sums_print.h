// SPDX-License-Identifier: Apache-2.0
// The exact sums of a batch, as a table, JSON, CSV or Arrow.
#ifndef DAP_SUMS_PRINT_H
#define DAP_SUMS_PRINT_H

#include <stdio.h>

#include "dap_collect.h"
#include "dap_moment.h"
#include "estimate_print.h"

// A collected batch, and the interval of its reports' times as text.
typedef struct agg_dap_result {
    const agg_dap_task *task;
    agg_dap_collected collected;
    char from[AGG_DAP_MOMENT_LEN]; // the interval's first moment
    char to[AGG_DAP_MOMENT_LEN];   // the first moment after the interval
} agg_dap_result;

// Writes `from` and `to`.
void agg_dap_result_name_interval(agg_dap_result *batch);

// Prints the sums.
// Returns: AGG_ERR_IO when the stream fails.
agg_err agg_dap_sums_print(FILE *stream, agg_error *error, const agg_dap_result *batch,
                           agg_format format) SHOAL_MUST_CHECK;

#endif
