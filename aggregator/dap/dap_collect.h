// SPDX-License-Identifier: Apache-2.0
// The collector of draft-ietf-ppm-dap-18 (section "Collecting Results"): asks the leader for a
// batch by time, waits until it is there, opens the two servers' shares and adds them.
//
// Privacy: what comes out is a sum of at least the task's minimum batch, which the devices bound
// into their reports; a smaller one is refused here too, whatever the servers say. A batch is given
// out once: whoever asks again, with the same interval, gets the same one.
#ifndef DAP_COLLECT_H
#define DAP_COLLECT_H

#include "dap_task.h"
#include "hpke.h"

typedef struct agg_dap_collector {
    const agg_dap_task *task;
    const agg_hpke_key *key;  // with its secret half
    const shoal_url *leader;  // where to ask, if not where the task says; NULL else
    const char *token;        // Authorization: Bearer
    shoal_dap_interval query; // in units of the task's time precision
    uint32_t wait_s;          // how long to ask again; 0: once
    // Called before each pause, with its seconds; may be NULL.
    void (*waits)(void *context, uint32_t seconds);
    void *context;
} agg_dap_collector;

typedef struct agg_dap_collected {
    uint64_t n_reports;
    shoal_dap_interval interval; // the smallest that holds the reports' times, within the query
    uint64_t *sums;
    size_t n_sums;
} agg_dap_collected;

// Finds the bytes that a collection takes, its sums included.
// Returns: an error for a task that cannot be
agg_err agg_dap_collect_memory(uint64_t *bytes, agg_error *error,
                               const agg_dap_task *task) SHOAL_MUST_CHECK;

// Collects. Release on OK.
// Returns: AGG_ERR_COHORT (exit code 3) for fewer reports than the minimum batch, and for a batch
// of which a part was collected
//          before; AGG_ERR_IO (5) where the leader does not answer or is not ready in time,
//          SHOAL_ERR_CHECKSUM where a share was not sealed for this key and this task;
//          SHOAL_ERR_RECORD for other answers that no leader gives, naming what is wrong
// Cost: two requests of about 16 bytes an entry and a server; an exchange of keys for each share
agg_err agg_dap_collect(agg_dap_collected *collected, agg_error *error,
                        const agg_dap_collector *collector) SHOAL_MUST_CHECK;
void agg_dap_collected_release(agg_dap_collected *collected);

#endif
