// SPDX-License-Identifier: Apache-2.0
// The memory of leader and helper, planned from their configuration before they listen. They take
// no more than planned, whatever clients send. With a small limit they hold less at once and make
// smaller jobs. No memory grows with the store.
#ifndef DAP_MEMORY_H
#define DAP_MEMORY_H

#include "dap_config.h"
#include "http_listener.h"

typedef struct agg_dap_plan {
    agg_http_room room; // the listener's
    uint64_t job_bytes; // memory for one job
    uint64_t bytes;     // peak of everything together, without the program
} agg_dap_plan;

// Plans how much is held at once: the usual amount, or as much as fits the limit, or the least
// amount when even that does not fit.
//   limit: bytes, without the program; 0: no limit
// Returns: an error for an impossible task.
agg_err agg_dap_memory_plan(agg_dap_plan *plan, agg_error *error, const agg_dap_config *config,
                            uint64_t limit) SHOAL_MUST_CHECK;

// Returns: the number of threads that verify reports.
unsigned agg_dap_verifiers(const agg_dap_config *config);

#define AGG_DAP_JOB_LEN ((size_t)4 << 20) // bytes of one job's request, about

#endif
