// SPDX-License-Identifier: Apache-2.0
// The helper of draft-ietf-ppm-dap-18: takes a leader's aggregation jobs and gives out its share of
// a batch, once. Each request is answered at once; the same request gets the same answer again,
// whatever happened in between. No network; the caller has checked who asks.
#ifndef DAP_HELPER_H
#define DAP_HELPER_H

#include "dap_party.h"

// POST {helper}/tasks/{task}/aggregation_jobs: verifies every report of the job and adds those that
// hold to the sums. Report ids, sums and the answer are kept in one transaction.
void agg_dap_helper_aggregate(agg_dap_answer *answer, agg_dap_party *party, agg_dap_served *task,
                              shoal_bytes body, uint64_t now_s);

// POST {helper}/tasks/{task}/aggregate_shares: the share of a batch that both servers count alike,
// sealed to the collector. The batch is then closed for ever.
void agg_dap_helper_share(agg_dap_answer *answer, agg_dap_party *party, agg_dap_served *task,
                          shoal_bytes body, uint64_t now_s);

// GET and DELETE of what the two made. Deleting forgets the answer, and no report id and no
// collected batch.
void agg_dap_helper_get(agg_dap_answer *answer, agg_dap_party *party, agg_dap_served *task,
                        enum agg_dap_answer_kind kind, const uint8_t id[AGG_DAP_ID]);
void agg_dap_helper_delete(agg_dap_answer *answer, agg_dap_party *party, agg_dap_served *task,
                           enum agg_dap_answer_kind kind, const uint8_t id[AGG_DAP_ID]);

// Returns: the bytes of memory that one report of a job takes.
uint64_t agg_dap_helper_report_bytes(const agg_dap_vdaf *vdaf);

#endif
