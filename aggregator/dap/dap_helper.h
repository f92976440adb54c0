// SPDX-License-Identifier: Apache-2.0
// The helper of draft-ietf-ppm-dap-18. It takes the leader's aggregation jobs, and gives out its
// share of a batch once. Every request is answered at once, and a repeated request gets the same
// answer. There is no network here; the caller has checked the client's token.
#ifndef DAP_HELPER_H
#define DAP_HELPER_H

#include "dap_party.h"

// POST {helper}/tasks/{task}/aggregation_jobs: verifies every report of the job and adds the valid
// ones to the sums. One transaction keeps report ids, sums and the answer.
void agg_dap_helper_aggregate(agg_dap_answer *answer, agg_dap_party *party, agg_dap_served *task,
                              shoal_bytes body, uint64_t now_s);

// POST {helper}/tasks/{task}/aggregate_shares: answers with the helper's share of a batch, sealed
// to the collector, if both servers have the same reports in it. The batch is closed for ever then.
void agg_dap_helper_share(agg_dap_answer *answer, agg_dap_party *party, agg_dap_served *task,
                          shoal_bytes body, uint64_t now_s);

// GET and DELETE of a job or an aggregate share. Deleting forgets the answer; report ids and
// collected batches stay.
void agg_dap_helper_get(agg_dap_answer *answer, agg_dap_party *party, agg_dap_served *task,
                        enum agg_dap_answer_kind kind, const uint8_t id[AGG_DAP_ID]);
void agg_dap_helper_delete(agg_dap_answer *answer, agg_dap_party *party, agg_dap_served *task,
                           enum agg_dap_answer_kind kind, const uint8_t id[AGG_DAP_ID]);

// Returns: the bytes of memory that one report of a job takes.
uint64_t agg_dap_helper_report_bytes(const agg_dap_vdaf *vdaf);

#endif
