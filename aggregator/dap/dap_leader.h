// SPDX-License-Identifier: Apache-2.0
// The leader of draft-ietf-ppm-dap-18: takes reports, aggregates them with the helper as they come
// (eagerly), and answers the collector. What it sends is kept before it is sent and sent again as
// it was after a crash; its own half of a verification is computed anew, since it is the same each
// time. The network is behind agg_dap_link.
#ifndef DAP_LEADER_H
#define DAP_LEADER_H

#include "dap_party.h"

// ---- requests; any thread ----

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

// ---- the driver; one thread ----

typedef struct agg_dap_reply {
    unsigned status;
    int problem;   // enum shoal_dap_problem, or AGG_DAP_NO_PROBLEM, AGG_DAP_OTHER_PROBLEM
    uint8_t *body; // of the wanted media type, or NULL; from malloc
    size_t len;
    char *location; // of the resource that the message made, or NULL; from malloc
} agg_dap_reply;

// How a leader reaches its helper.
typedef struct agg_dap_link {
    void *self;
    // Posts a message. Returns: SHOAL_OK where an answer of any status came.
    agg_err (*post)(void *self, agg_dap_reply *reply, agg_error *error, const agg_dap_served *task,
                    enum shoal_dap_resource resource, enum shoal_dap_message message,
                    shoal_bytes body, enum shoal_dap_message wanted);
    // Tells the helper that a resource is not needed any more. Whether it hears does not matter.
    void (*remove)(void *self, const char *location);
} agg_dap_link;

// Does the next thing that is due of a task: the job or the collection that is under way, else a
// new job, else a collection.
//   is_more: whether the next call has something to do at once
//   is_eager: make a job of any number of reports; else only of a full one, or where a collection
//   of a time that is over waits
// Returns: an error where the helper could not be reached or said something wrong, or the store
// failed: call again later.
agg_err agg_dap_leader_turn(int *is_more, agg_error *error, agg_dap_party *party,
                            agg_dap_served *task, const agg_dap_link *link, uint64_t now_s,
                            int is_eager) SHOAL_MUST_CHECK;

// Returns: how many reports one job of the task has at most.
size_t agg_dap_job_full(const agg_dap_party *party, const agg_dap_served *task);

// Returns: the bytes of one report of the task, and what each takes of memory in a job.
uint64_t agg_dap_report_len(const agg_dap_vdaf *vdaf);
uint64_t agg_dap_leader_report_bytes(const agg_dap_vdaf *vdaf);

#define AGG_DAP_UPLOADS_MAX 16384u                // reports of one upload request
#define AGG_DAP_UPLOADS_BYTES ((uint64_t)4 << 20) // of memory for the list of them

#endif
