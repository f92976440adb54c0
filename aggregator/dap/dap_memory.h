// SPDX-License-Identifier: Apache-2.0
// What leader and helper take of memory, found from their configuration before they listen:
// whatever is sent to them then, they take no more. Where a limit is less than they would take,
// they hold less at once and make smaller jobs. Nothing grows with the store.
#ifndef DAP_MEMORY_H
#define DAP_MEMORY_H

#include "dap_config.h"
#include "http_listener.h"

typedef struct agg_dap_plan {
    agg_http_room room; // of the listener
    uint64_t job_bytes; // of memory for one job
    uint64_t bytes;     // that all takes at its peak, without the program
} agg_dap_plan;

// Plans what is held at once: as much as is usual, or as fits the limit; the least where nothing
// does.
//   limit: bytes, without the program; 0: none
// Returns: an error for a task that cannot be
agg_err agg_dap_memory_plan(agg_dap_plan *plan, agg_error *error, const agg_dap_config *config,
                            uint64_t limit) SHOAL_MUST_CHECK;

// Returns: threads that verify.
unsigned agg_dap_verifiers(const agg_dap_config *config);

#define AGG_DAP_JOB_LEN ((size_t)4 << 20) // bytes of one job's request, about

#endif
