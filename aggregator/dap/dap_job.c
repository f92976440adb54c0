// SPDX-License-Identifier: Apache-2.0
// The leader's aggregation jobs; see dap_job.h. Section "Leader Initialization" of the draft.
//
// A task has one job at a time. Its request is kept before it is sent, and its reports are kept
// until the helper has answered. One transaction adds the sums and removes the reports and the job.
#include "dap_job.h"

#include <stdlib.h>
#include <string.h>

#include "agg_parallel.h"
#include "agg_size.h"
#include "bytes.h"

#define STATES_MAX ((size_t)64 << 20)  // bytes of the states of one job
#define BODIES_MAX ((size_t)128 << 20) // bytes of the reports of one job
#define BAD_REPLIES_MAX 3              // bad replies to one job after which it is abandoned

// The reports of a job and the leader's half of their verification.
typedef struct work_list {
    const agg_dap_party *party;
    const agg_dap_vdaf *vdaf;
    agg_dap_pendings reports;
    uint32_t *errors;                  // enum shoal_dap_report_error, of each report
    uint8_t *states, *verifier_shares; // one of each for each report
    agg_dap_work *works;               // one for each thread
} work_list;

static void release_list(work_list *l)
{
    if (l->states != NULL) wipe(l->states, l->reports.n * agg_dap_state_len(l->vdaf));
    for (unsigned i = 0; l->works != NULL && i < l->party->n_threads; i++)
        agg_dap_work_release(&l->works[i]);
    free(l->errors);
    free(l->states);
    free(l->verifier_shares);
    free(l->works);
    agg_dap_pendings_release(&l->reports);
}

// ---- the leader's half ----

static void begin_one(work_list *l, agg_dap_work *work, size_t i)
{
    shoal_dap_report report;
    shoal_dap_reader r = {l->reports.list[i].body, l->reports.list[i].len, 0};
    if (l->errors[i] != 0) return;
    l->errors[i] =
        shoal_dap_read_report(&report, &r) != SHOAL_OK
            ? (uint32_t)SHOAL_DAP_INVALID_MESSAGE
            : agg_dap_leader_begin(l->states + i * agg_dap_state_len(l->vdaf),
                                   l->verifier_shares +
                                       i * shoal_prio3_verifier_share_len(&l->vdaf->prio3),
                                   work, l->vdaf, &l->party->keys, &report);
}

static void begin_part(void *context, unsigned part, unsigned n_parts)
{
    work_list *l = context;
    for (size_t i = part; i < l->reports.n; i += n_parts) begin_one(l, &l->works[part], i);
}

// Begins the verification of all reports that have no error yet.
static agg_err begin_all(work_list *l, agg_error *error)
{
    size_t n = l->reports.n;
    l->states = agg_alloc(error, n, agg_dap_state_len(l->vdaf));
    l->verifier_shares = agg_alloc(error, n, shoal_prio3_verifier_share_len(&l->vdaf->prio3));
    l->works = agg_alloc(error, l->party->n_threads, sizeof *l->works);
    if (l->states == NULL || l->verifier_shares == NULL || l->works == NULL) return AGG_ERR_MEMORY;
    for (unsigned i = 0; i < l->party->n_threads; i++) {
        agg_err err = agg_dap_work_init(&l->works[i], error, l->vdaf);
        if (err != SHOAL_OK) return err;
    }
    agg_parallel(l->party->n_threads, begin_part, l);
    return SHOAL_OK;
}

// ---- making a job ----

// Returns: the bytes of a VerifyInit: id, time, four length fields, the helper's ciphertext and the
// ping-pong message.
static size_t request_of_one(const agg_dap_vdaf *vdaf)
{
    const shoal_prio3 *prio3 = &vdaf->prio3;
    return 128 + shoal_prio3_public_share_len(prio3) + shoal_prio3_input_share_len(prio3, 1) +
           shoal_prio3_verifier_share_len(prio3);
}

uint64_t agg_dap_report_len(const agg_dap_vdaf *vdaf)
{
    const shoal_prio3 *prio3 = &vdaf->prio3;
    return 256 + (uint64_t)shoal_prio3_public_share_len(prio3) +
           shoal_prio3_input_share_len(prio3, 0) + shoal_prio3_input_share_len(prio3, 1);
}

// A report takes its bytes, its state and verifier share, its part of the request and of the reply,
// and a sum when its bucket has no other report.
uint64_t agg_dap_leader_report_bytes(const agg_dap_vdaf *vdaf)
{
    uint64_t own = agg_dap_report_len(vdaf) + agg_dap_state_len(vdaf) +
                   shoal_prio3_verifier_share_len(&vdaf->prio3);
    return own + 2 * request_of_one(vdaf) + agg_dap_output_len(vdaf) + 2 * sizeof(agg_dap_pending) +
           sizeof(agg_dap_bucket);
}

// A job is limited by the configuration, by memory, and by the length of its request.
size_t agg_dap_job_full(const agg_dap_party *party, const agg_dap_served *task)
{
    size_t by_states = STATES_MAX / agg_dap_state_len(&task->vdaf);
    size_t by_length = party->job_len / request_of_one(&task->vdaf);
    uint64_t by_memory = party->job_bytes / agg_dap_leader_report_bytes(&task->vdaf);
    size_t n = party->job_reports < by_states ? party->job_reports : by_states;
    if (n > by_length) n = by_length;
    if (party->job_bytes > 0 && n > by_memory) n = (size_t)by_memory;
    if (task->job_cap != 0 && n > task->job_cap) n = task->job_cap;
    return n == 0 ? 1 : n;
}

// Reads the next reports from the store, and checks which of them can still be aggregated.
static agg_err pick_reports(work_list *l, agg_error *error, const agg_dap_served *task)
{
    agg_dap_store *store = l->party->store;
    agg_err err = agg_dap_begin(store, error);
    if (err != SHOAL_OK) return err;
    err = agg_dap_report_next(store, &l->reports, error, task->number,
                              agg_dap_job_full(l->party, task), BODIES_MAX);
    if (err == SHOAL_OK) {
        l->errors = agg_alloc(error, l->reports.n, sizeof *l->errors);
        if (l->errors == NULL) err = AGG_ERR_MEMORY;
    }
    for (size_t i = 0; err == SHOAL_OK && i < l->reports.n; i++)
        err = agg_dap_check_bucket(&l->errors[i], store, error, task->number,
                                   l->reports.list[i].bucket);
    agg_dap_abandon(store); // the transaction only read
    return err;
}

static void put_request(shoal_dap_writer *w, const work_list *l, uint8_t *payload,
                        size_t payload_cap)
{
    size_t share_len = shoal_prio3_verifier_share_len(&l->vdaf->prio3);
    shoal_dap_put_job_head(w, 0);
    for (size_t i = 0; i < l->reports.n; i++) {
        shoal_dap_report report;
        shoal_dap_reader r = {l->reports.list[i].body, l->reports.list[i].len, 0};
        if (l->errors[i] != 0 || shoal_dap_read_report(&report, &r) != SHOAL_OK) continue;
        shoal_dap_writer p = {payload, payload_cap, 0, 0};
        shoal_dap_put_initialize(&p, (shoal_bytes){l->verifier_shares + i * share_len, share_len});
        const shoal_dap_verify_init init = {
            report.metadata, report.public_share, report.helper, {payload, p.len}};
        shoal_dap_put_verify_init(w, &init);
    }
}

static agg_err write_request(agg_dap_job *job, agg_error *error, const work_list *l)
{
    size_t payload_cap = shoal_prio3_verifier_share_len(&l->vdaf->prio3) + 16;
    uint8_t *payload = agg_alloc(error, payload_cap, 1);
    if (payload == NULL) return AGG_ERR_MEMORY;
    shoal_dap_writer w = {NULL, 0, 0, 0};
    put_request(&w, l, payload, payload_cap);
    agg_err err = agg_dap_writer_init(&w, error, w.len);
    if (err == SHOAL_OK) put_request(&w, l, payload, payload_cap);
    free(payload);
    job->request = w.at;
    job->len = w.len;
    return err;
}

static agg_err write_job(agg_dap_job *job, agg_error *error, const work_list *l)
{
    job->ids = agg_alloc(error, l->reports.n, SHOAL_DAP_REPORT_ID);
    if (job->ids == NULL) return AGG_ERR_MEMORY;
    for (size_t i = 0; i < l->reports.n; i++) {
        if (l->errors[i] != 0) continue;
        memcpy(job->ids + job->n * SHOAL_DAP_REPORT_ID, l->reports.list[i].id, SHOAL_DAP_REPORT_ID);
        job->n++;
    }
    return job->n == 0 ? SHOAL_OK : write_request(job, error, l);
}

// Keeps a job, and removes the reports that were refused and so are not in it.
static agg_err keep_job(const agg_dap_job *job, agg_error *error, const work_list *l,
                        agg_dap_served *task)
{
    agg_dap_store *store = l->party->store;
    agg_err err = agg_dap_begin(store, error);
    if (err != SHOAL_OK) return err;
    if (job->n > 0) err = agg_dap_job_set(store, error, task->number, job);
    for (size_t i = 0; err == SHOAL_OK && i < l->reports.n; i++) {
        if (l->errors[i] != 0)
            err = agg_dap_report_remove(store, error, task->number, l->reports.list[i].id);
    }
    err = agg_dap_end(store, error, err);
    for (size_t i = 0; err == SHOAL_OK && i < l->reports.n; i++) {
        if (l->errors[i] == 0) continue;
        atomic_fetch_add(&task->refused[l->errors[i]], 1);
        atomic_fetch_sub(&task->pending, 1);
    }
    return err;
}

// Removes refused reports and their states from the list, so that it has the job's reports in the
// job's order.
static void keep_good(work_list *l)
{
    size_t n = 0, state_len = agg_dap_state_len(l->vdaf);
    for (size_t i = 0; i < l->reports.n; i++) {
        if (l->errors[i] != 0) {
            free(l->reports.list[i].body);
            continue;
        }
        l->reports.list[n] = l->reports.list[i];
        if (n != i) memcpy(l->states + n * state_len, l->states + i * state_len, state_len);
        l->errors[n++] = 0;
    }
    wipe(l->states + n * state_len, (l->reports.n - n) * state_len);
    l->reports.n = n;
}

// Makes a job of the next reports. job->request stays NULL when no report can be aggregated.
static agg_err make_job(agg_dap_job *job, work_list *l, agg_error *error, agg_dap_served *task)
{
    agg_err err = pick_reports(l, error, task);
    if (err != SHOAL_OK || l->reports.n == 0) return err;
    err = begin_all(l, error);
    if (err == SHOAL_OK) err = write_job(job, error, l);
    if (err == SHOAL_OK) err = keep_job(job, error, l, task);
    if (err == SHOAL_OK) keep_good(l);
    return err;
}

// ---- ending a job ----

// Restores the list of a kept job after a crash or a failure: reads its reports and computes the
// leader's half again.
static agg_err restore_list(work_list *l, agg_error *error, const agg_dap_job *job,
                            const agg_dap_served *task)
{
    agg_dap_store *store = l->party->store;
    agg_err err = agg_dap_begin(store, error);
    if (err != SHOAL_OK) return err;
    for (size_t i = 0; err == SHOAL_OK && i < job->n; i++)
        err = agg_dap_report_find(store, &l->reports, error, task->number,
                                  job->ids + i * SHOAL_DAP_REPORT_ID);
    agg_dap_abandon(store); // the transaction only read
    if (err != SHOAL_OK) return err;
    if (l->reports.n != job->n)
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "a report of the job is missing");
    l->errors = agg_alloc(error, job->n, sizeof *l->errors);
    return l->errors == NULL ? AGG_ERR_MEMORY : begin_all(l, error);
}

// Returns: whether a reply has exactly one response for each report of the job, in order.
static bool is_whole_reply(const agg_dap_reply *reply, const agg_dap_job *job)
{
    shoal_dap_reader r = {reply->body, reply->len, 0};
    for (size_t i = 0; i < job->n; i++) {
        shoal_dap_verify_resp resp;
        if (shoal_dap_read_verify_resp(&resp, &r) != SHOAL_OK || resp.kind == SHOAL_DAP_FINISH ||
            memcmp(resp.id, job->ids + i * SHOAL_DAP_REPORT_ID, sizeof resp.id) != 0)
            return false;
    }
    return shoal_dap_is_at_end(&r);
}

// Ends the verification of every report that the helper accepted, and sums up the output shares.
static agg_err sum_up(agg_dap_sums *sums, work_list *l, agg_error *error,
                      const agg_dap_reply *reply)
{
    size_t state_len = agg_dap_state_len(l->vdaf), output_len = agg_dap_output_len(l->vdaf);
    uint8_t *output = agg_alloc(error, output_len, 1);
    if (output == NULL) return AGG_ERR_MEMORY;
    agg_err err = SHOAL_OK;
    shoal_dap_reader r = {reply->body, reply->len, 0};
    for (size_t i = 0; err == SHOAL_OK && i < l->reports.n; i++) {
        shoal_dap_verify_resp resp;
        if (shoal_dap_read_verify_resp(&resp, &r) != SHOAL_OK)
            break; // is_whole_reply has read it before
        if (resp.kind == SHOAL_DAP_REJECT)
            l->errors[i] = resp.error < AGG_DAP_ERRORS && resp.error != 0
                               ? resp.error
                               : SHOAL_DAP_INVALID_MESSAGE;
        if (l->errors[i] == 0)
            l->errors[i] =
                agg_dap_leader_end(output, l->vdaf, l->states + i * state_len, resp.payload);
        if (l->errors[i] == 0)
            err = agg_dap_sums_add(sums, error, l->vdaf, l->reports.list[i].bucket,
                                   l->reports.list[i].id, output);
    }
    wipe(output, output_len);
    free(output);
    return err;
}

// Adds the sums and removes the reports and the job, in one transaction.
static agg_err commit_job(const agg_dap_sums *sums, const work_list *l, agg_error *error,
                          agg_dap_served *task)
{
    agg_dap_store *store = l->party->store;
    agg_err err = agg_dap_begin(store, error);
    if (err != SHOAL_OK) return err;
    err = agg_dap_sums_store(sums, store, error, task);
    for (size_t i = 0; err == SHOAL_OK && i < l->reports.n; i++)
        err = agg_dap_report_remove(store, error, task->number, l->reports.list[i].id);
    if (err == SHOAL_OK) err = agg_dap_job_remove(store, error, task->number);
    return agg_dap_end(store, error, err);
}

static agg_err end_job(work_list *l, agg_error *error, agg_dap_served *task, const agg_dap_job *job,
                       const agg_dap_reply *reply)
{
    agg_dap_sums sums = {0};
    agg_err err = l->reports.n == 0 ? restore_list(l, error, job, task) : SHOAL_OK;
    if (err == SHOAL_OK) err = sum_up(&sums, l, error, reply);
    if (err == SHOAL_OK) err = commit_job(&sums, l, error, task);
    agg_dap_sums_release(&sums);
    if (err != SHOAL_OK) return err;
    atomic_fetch_add(&task->jobs, 1);
    atomic_fetch_sub(&task->pending, (long long)l->reports.n);
    for (size_t i = 0; i < l->reports.n; i++)
        atomic_fetch_add(l->errors[i] == 0 ? &task->aggregated : &task->refused[l->errors[i]], 1);
    return SHOAL_OK;
}

// Gives a job up.
//   with_reports: remove its reports too, because the helper may have aggregated them
static agg_err drop_job(agg_dap_party *party, agg_error *error, const agg_dap_served *task,
                        const agg_dap_job *job, bool with_reports)
{
    agg_err err = agg_dap_begin(party->store, error);
    if (err != SHOAL_OK) return err;
    err = agg_dap_job_remove(party->store, error, task->number);
    for (size_t i = 0; with_reports && err == SHOAL_OK && i < job->n; i++)
        err = agg_dap_report_remove(party->store, error, task->number,
                                    job->ids + i * SHOAL_DAP_REPORT_ID);
    return agg_dap_end(party->store, error, err);
}

// Handles a reply that is not the job's responses.
static agg_err refuse_reply(agg_dap_party *party, agg_error *error, agg_dap_served *task,
                            const agg_dap_link *link, const agg_dap_job *job,
                            const agg_dap_reply *reply)
{
    if (reply->status == 413 && job->n > 1) { // the helper read nothing of it: make smaller jobs
        task->job_cap = job->n / 2;
        return drop_job(party, error, task, job, false);
    }
    if (reply->status / 100 == 2 && reply->len > 0 && ++task->bad_replies >= BAD_REPLIES_MAX) {
        agg_err err = drop_job(party, error, task, job, true);
        if (err != SHOAL_OK) return err; // the job is there still, and comes again
        task->bad_replies = 0;
        atomic_fetch_add(&task->refused[SHOAL_DAP_REPORT_DROPPED], job->n);
        atomic_fetch_sub(&task->pending, (long long)job->n);
        if (reply->location != NULL) link->remove(link->self, reply->location);
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO,
                        "task %s: the helper's answers do not belong to the job, which is "
                        "abandoned with %zu reports",
                        task->name, job->n);
    }
    return agg_dap_reply_fail(error, task, reply);
}

static agg_err send_job(agg_dap_party *party, work_list *l, agg_error *error, agg_dap_served *task,
                        const agg_dap_link *link, const agg_dap_job *job)
{
    agg_dap_reply reply = {0};
    agg_err err = link->post(link->self, &reply, error, task, SHOAL_DAP_AGGREGATION_JOBS,
                             SHOAL_DAP_AGGREGATION_JOB_INIT_REQ,
                             (shoal_bytes){job->request, job->len}, SHOAL_DAP_AGGREGATION_JOB_RESP);
    if (err != SHOAL_OK) return err;
    bool is_answer = reply.status / 100 == 2 && reply.body != NULL && is_whole_reply(&reply, job);
    if (is_answer) task->bad_replies = 0;
    err = is_answer ? end_job(l, error, task, job, &reply)
                    : refuse_reply(party, error, task, link, job, &reply);
    agg_dap_reply_release(&reply);
    return err;
}

// ---- turns ----

agg_err agg_dap_job_resume(bool *is_under_way, agg_dap_party *party, agg_error *error,
                           agg_dap_served *task, const agg_dap_link *link)
{
    agg_dap_job job = {0};
    work_list l = {.party = party, .vdaf = &task->vdaf};
    agg_err err = agg_dap_begin(party->store, error);
    if (err != SHOAL_OK) return err;
    err = agg_dap_job_get(party->store, &job, error, task->number);
    agg_dap_abandon(party->store); // the transaction only read
    *is_under_way = job.request != NULL;
    if (err == SHOAL_OK && job.request != NULL) err = send_job(party, &l, error, task, link, &job);
    release_list(&l);
    agg_dap_job_release(&job);
    return err;
}

agg_err agg_dap_job_run(agg_dap_party *party, agg_error *error, agg_dap_served *task,
                        const agg_dap_link *link)
{
    agg_dap_job job = {0};
    work_list l = {.party = party, .vdaf = &task->vdaf};
    agg_err err = make_job(&job, &l, error, task);
    if (err == SHOAL_OK && job.request != NULL) err = send_job(party, &l, error, task, link, &job);
    release_list(&l);
    agg_dap_job_release(&job);
    return err;
}
