// SPDX-License-Identifier: Apache-2.0
// The collector of draft-ietf-ppm-dap-18 (section "Collecting Results"). It asks the leader for the
// batch of a time interval, waits until the batch is ready, opens the two servers' shares and adds
// them.
//
// Privacy: a result is a sum over at least the task's minimum batch, which devices bind into their
// reports. The collector refuses a smaller batch too, whatever the servers say. A batch is given
// out once; a second request with the same interval gets the same batch.
#ifndef DAP_COLLECT_H
#define DAP_COLLECT_H

#include "dap_task.h"
#include "hpke.h"

typedef struct agg_dap_collector {
    const agg_dap_task *task;
    const agg_hpke_key *key;  // with its secret half
    const shoal_url *leader;  // the leader's URL; NULL: the task's
    const char *token;        // Authorization: Bearer
    shoal_dap_interval query; // in units of the task's time precision
    uint32_t wait_s;          // seconds during which to ask again; 0: ask once
    // Called before each pause, with its seconds; may be NULL.
    void (*waits)(void *context, uint32_t seconds);
    void *context;
} agg_dap_collector;

typedef struct agg_dap_collected {
    uint64_t n_reports;
    shoal_dap_interval interval; // the smallest interval with all reports, within the query
    uint64_t *sums;              // of a task with noise: integers below zero as in int64_t
    size_t n_sums;
} agg_dap_collected;

// Finds the bytes of memory that a collection takes, with its sums.
// Returns: an error for an impossible task.
agg_err agg_dap_collect_memory(uint64_t *bytes, agg_error *error,
                               const agg_dap_task *task) SHOAL_MUST_CHECK;

// Collects a batch. Release `collected` on OK.
// Returns: AGG_ERR_COHORT (exit code 3) for fewer reports than the minimum batch, and for a batch
// that overlaps one collected before; AGG_ERR_IO (5) when the leader does not answer or is not
// ready in time; SHOAL_ERR_CHECKSUM for a share that was not sealed for this key and this task;
// SHOAL_ERR_RECORD for any other answer that no leader gives, with a text that names the fault.
// Cost: two requests of about 16 bytes for each entry and server, and a key exchange for each
// share.
agg_err agg_dap_collect(agg_dap_collected *collected, agg_error *error,
                        const agg_dap_collector *collector) SHOAL_MUST_CHECK;
void agg_dap_collected_release(agg_dap_collected *collected);

#endif
