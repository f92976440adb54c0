// SPDX-License-Identifier: Apache-2.0
// The exact sums of a batch, as a table, JSON or CSV.
#ifndef DAP_SUMS_PRINT_H
#define DAP_SUMS_PRINT_H

#include <stdio.h>

#include "dap_collect.h"
#include "dap_moment.h"
#include "estimate_print.h"

// A batch with the interval of its reports' times in words.
typedef struct agg_dap_batch {
    const agg_dap_task *task;
    agg_dap_collected collected;
    char from[AGG_DAP_MOMENT_LEN], to[AGG_DAP_MOMENT_LEN]; // `to` is not included
} agg_dap_batch;

// Writes `from` and `to`.
void agg_dap_batch_name_interval(agg_dap_batch *batch);

// Prints the sums. Returns: AGG_ERR_IO.
agg_err agg_dap_sums_print(FILE *stream, agg_error *error, const agg_dap_batch *batch,
                           agg_format format) SHOAL_MUST_CHECK;

#endif
