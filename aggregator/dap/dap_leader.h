// SPDX-License-Identifier: Apache-2.0
// The leader of draft-ietf-ppm-dap-18: its answers to clients and to the collector. Reports are
// aggregated with the helper as they come; dap_driver.h does that. Any thread may call these
// functions.
#ifndef DAP_LEADER_H
#define DAP_LEADER_H

#include "dap_party.h"

// An upload request of the task's clients: keeps the reports that can be taken, and answers with
// the error of each other report. The leader opens its own share of a report and checks it before
// it keeps anything, so that junk fills neither the queue nor the table of ids. A report whose
// helper's share is junk still enters, until the helper refuses it.
// Cost: agg_dap_leader_check for each report, in the caller's thread; the requests of a server's
// threads are opened in parallel.
void agg_dap_leader_upload(agg_dap_answer *answer, agg_dap_party *party, agg_dap_served *task,
                           shoal_bytes body, uint64_t now_s);

// POST {leader}/tasks/{task}/collection_jobs, and GET and DELETE of the job. A job waits until
// every report of its interval is aggregated. It fails when the interval is over and its batch is
// too small, and may be posted again then. An interval that ends more than a day from now is
// refused: no report enters a collected batch, so a request for the coming year would end the task.
void agg_dap_leader_collect(agg_dap_answer *answer, agg_dap_party *party, agg_dap_served *task,
                            shoal_bytes body, uint64_t now_s);
void agg_dap_leader_get(agg_dap_answer *answer, agg_dap_party *party, agg_dap_served *task,
                        const uint8_t id[AGG_DAP_ID]);
void agg_dap_leader_delete(agg_dap_answer *answer, agg_dap_party *party, agg_dap_served *task,
                           const uint8_t id[AGG_DAP_ID]);

#define AGG_DAP_UPLOADS_MAX 16384u                // most reports of one upload request
#define AGG_DAP_UPLOADS_BYTES ((uint64_t)4 << 20) // most memory for their list

#endif
