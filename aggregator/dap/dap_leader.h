// SPDX-License-Identifier: Apache-2.0
// The leader of draft-ietf-ppm-dap-18: takes reports, aggregates them with the helper as they come
// (eagerly), and answers the collector. What it sends is kept before it is sent and sent again as
// it was after a crash; its own half of a verification is computed anew, since it is the same each
// time. The network is behind agg_dap_link.
#ifndef DAP_LEADER_H
#define DAP_LEADER_H

#include "dap_party.h"

// An upload request of the task's clients: keeps the reports that can be taken, and says of the
// others why they cannot.
void agg_dap_leader_upload(agg_dap_answer *answer, agg_dap_party *party, agg_dap_served *task,
                           shoal_bytes body, uint64_t now_s);

// POST {leader}/tasks/{task}/collection_jobs, and GET and DELETE of what it makes. A job waits
// until every report of its interval is aggregated; it fails where the interval is over and its
// batch is too small, and may then be asked for again. What ends more than a day from now is
// refused: who asks for a year would end the task, since no report enters a collected batch.
void agg_dap_leader_collect(agg_dap_answer *answer, agg_dap_party *party, agg_dap_served *task,
                            shoal_bytes body, uint64_t now_s);
void agg_dap_leader_get(agg_dap_answer *answer, agg_dap_party *party, agg_dap_served *task,
                        const uint8_t id[AGG_DAP_ID]);
void agg_dap_leader_delete(agg_dap_answer *answer, agg_dap_party *party, agg_dap_served *task,
                           const uint8_t id[AGG_DAP_ID]);

#define AGG_DAP_UPLOADS_MAX 16384u                // reports of one upload request
#define AGG_DAP_UPLOADS_BYTES ((uint64_t)4 << 20) // of memory for the list of them

#endif
