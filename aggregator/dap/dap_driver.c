// SPDX-License-Identifier: Apache-2.0
// The leader's own work, one step at a time; see dap_leader.h. Sections "Leader Initialization" and "Obtaining Aggregate
// Shares" of the draft.
//
// A task has one job at a time. Its request is kept before it is sent, and its reports until it is answered; sums, the reports'
// removal and the job's are one transaction. While the helper's answer to a request for its share is not known, nothing else
// is aggregated: the helper may have closed the batch already, or count it later.
#include <stdlib.h>
#include <string.h>

#include "agg_parallel.h"
#include "agg_size.h"
#include "bytes.h"
#include "dap_leader.h"

#define STATES_MAX ((size_t)64 << 20)  // bytes of the states of one job
#define BODIES_MAX ((size_t)128 << 20) // bytes of the reports of one job
#define BAD_REPLIES_MAX 3              // to one job; then it is abandoned

// The reports of a job and this server's half of their verification.
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
    for (unsigned i = 0; l->works != NULL && i < l->party->n_threads; i++) agg_dap_work_release(&l->works[i]);
    free(l->errors);
    free(l->states);
    free(l->verifier_shares);
    free(l->works);
    agg_dap_pendings_release(&l->reports);
}

static void end_reply(agg_dap_reply *reply)
{
    free(reply->body);
    free(reply->location);
    *reply = (agg_dap_reply){0};
}

// Ends what agg_dap_begin began, by how it went.
static shoal_err end_step(agg_dap_store *store, agg_error *error, shoal_err err)
{
    if (err == SHOAL_OK) return agg_dap_commit(store, error);
    agg_dap_abandon(store);
    return err;
}

// ---- this server's half ----

static void begin_one(work_list *l, agg_dap_work *work, size_t i)
{
    shoal_dap_report report;
    shoal_dap_reader r = {l->reports.list[i].body, l->reports.list[i].len, 0};
    if (l->errors[i] != 0) return;
    l->errors[i] = shoal_dap_read_report(&report, &r) != SHOAL_OK
                       ? (uint32_t)SHOAL_DAP_INVALID_MESSAGE
                       : agg_dap_leader_begin(l->states + i * agg_dap_state_len(l->vdaf),
                                              l->verifier_shares + i * shoal_prio3_verifier_share_len(&l->vdaf->prio3),
                                              work, l->vdaf, &l->party->keys, &report);
}

static void begin_part(void *context, unsigned part, unsigned n_parts)
{
    work_list *l = context;
    for (size_t i = part; i < l->reports.n; i += n_parts) begin_one(l, &l->works[part], i);
}

// Begins the verification of all reports that have no error yet.
static shoal_err begin_all(work_list *l, agg_error *error)
{
    size_t n = l->reports.n;
    l->states = agg_alloc(error, n, agg_dap_state_len(l->vdaf));
    l->verifier_shares = agg_alloc(error, n, shoal_prio3_verifier_share_len(&l->vdaf->prio3));
    l->works = agg_alloc(error, l->party->n_threads, sizeof *l->works);
    if (l->states == NULL || l->verifier_shares == NULL || l->works == NULL) return AGG_ERR_MEMORY;
    for (unsigned i = 0; i < l->party->n_threads; i++) {
        shoal_err err = agg_dap_work_init(&l->works[i], error, l->vdaf);
        if (err != SHOAL_OK) return err;
    }
    agg_parallel(l->party->n_threads, begin_part, l);
    return SHOAL_OK;
}

// ---- making a job ----

// How many reports one job may have: by configuration, by memory, and by the length of its request.
static size_t job_reports(const agg_dap_party *party, const agg_dap_served *task)
{
    const shoal_prio3 *prio3 = &task->vdaf.prio3;
    // A VerifyInit: id, time, four length fields, the helper's ciphertext, the ping-pong message.
    size_t one = 128 + shoal_prio3_public_share_len(prio3) + shoal_prio3_input_share_len(prio3, 1) +
                 shoal_prio3_verifier_share_len(prio3);
    size_t by_memory = STATES_MAX / agg_dap_state_len(&task->vdaf), by_length = party->job_len / one;
    size_t n = party->job_reports < by_memory ? party->job_reports : by_memory;
    if (n > by_length) n = by_length;
    if (task->job_cap != 0 && n > task->job_cap) n = task->job_cap;
    return n == 0 ? 1 : n;
}

// Takes the next reports out of the store, and looks which of them can still be aggregated.
static shoal_err pick_reports(work_list *l, agg_error *error, const agg_dap_served *task)
{
    agg_dap_store *store = l->party->store;
    shoal_err err = agg_dap_begin(store, error);
    if (err != SHOAL_OK) return err;
    err = agg_dap_report_next(store, &l->reports, error, task->number, job_reports(l->party, task), BODIES_MAX);
    if (err == SHOAL_OK) {
        l->errors = agg_alloc(error, l->reports.n, sizeof *l->errors);
        if (l->errors == NULL) err = AGG_ERR_MEMORY;
    }
    for (size_t i = 0; err == SHOAL_OK && i < l->reports.n; i++)
        err = agg_dap_check_bucket(&l->errors[i], store, error, task->number, l->reports.list[i].bucket);
    agg_dap_abandon(store); // nothing was written
    return err;
}

static void put_request(shoal_dap_writer *w, const work_list *l, uint8_t *payload, size_t payload_cap)
{
    size_t share_len = shoal_prio3_verifier_share_len(&l->vdaf->prio3);
    shoal_dap_put_job_head(w, 0);
    for (size_t i = 0; i < l->reports.n; i++) {
        shoal_dap_report report;
        shoal_dap_reader r = {l->reports.list[i].body, l->reports.list[i].len, 0};
        if (l->errors[i] != 0 || shoal_dap_read_report(&report, &r) != SHOAL_OK) continue;
        shoal_dap_writer p = {payload, payload_cap, 0, 0};
        shoal_dap_put_initialize(&p, (shoal_bytes){l->verifier_shares + i * share_len, share_len});
        const shoal_dap_verify_init init = {report.metadata, report.public_share, report.helper, {payload, p.len}};
        shoal_dap_put_verify_init(w, &init);
    }
}

static shoal_err write_request(agg_dap_job *job, agg_error *error, const work_list *l)
{
    size_t payload_cap = shoal_prio3_verifier_share_len(&l->vdaf->prio3) + 16;
    uint8_t *payload = agg_alloc(error, payload_cap, 1);
    if (payload == NULL) return AGG_ERR_MEMORY;
    shoal_dap_writer w = {NULL, 0, 0, 0};
    put_request(&w, l, payload, payload_cap);
    shoal_err err = agg_dap_writer_init(&w, error, w.len);
    if (err == SHOAL_OK) put_request(&w, l, payload, payload_cap);
    free(payload);
    job->request = w.at;
    job->len = w.len;
    return err;
}

static shoal_err write_job(agg_dap_job *job, agg_error *error, const work_list *l)
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

// Keeps a job, and removes the reports that are not in it: those have been refused.
static shoal_err keep_job(const agg_dap_job *job, agg_error *error, const work_list *l, agg_dap_served *task)
{
    agg_dap_store *store = l->party->store;
    shoal_err err = agg_dap_begin(store, error);
    if (err != SHOAL_OK) return err;
    if (job->n > 0) err = agg_dap_job_set(store, error, task->number, job);
    for (size_t i = 0; err == SHOAL_OK && i < l->reports.n; i++) {
        if (l->errors[i] != 0) err = agg_dap_report_remove(store, error, task->number, l->reports.list[i].id);
    }
    err = end_step(store, error, err);
    for (size_t i = 0; err == SHOAL_OK && i < l->reports.n; i++) {
        if (l->errors[i] == 0) continue;
        atomic_fetch_add(&task->refused[l->errors[i]], 1);
        atomic_fetch_sub(&task->pending, 1);
    }
    return err;
}

// Leaves only the reports of the job in the list, with their states, in the job's order.
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

// Makes a job of the next reports. job->request stays NULL where there is none to make.
static shoal_err make_job(agg_dap_job *job, work_list *l, agg_error *error, agg_dap_served *task)
{
    shoal_err err = pick_reports(l, error, task);
    if (err != SHOAL_OK || l->reports.n == 0) return err;
    err = begin_all(l, error);
    if (err == SHOAL_OK) err = write_job(job, error, l);
    if (err == SHOAL_OK) err = keep_job(job, error, l, task);
    if (err == SHOAL_OK) keep_good(l);
    return err;
}

// ---- ending a job ----

// After a crash or a failure: the reports of a kept job, and this server's half once more.
static shoal_err restore_list(work_list *l, agg_error *error, const agg_dap_job *job, const agg_dap_served *task)
{
    agg_dap_store *store = l->party->store;
    shoal_err err = agg_dap_begin(store, error);
    if (err != SHOAL_OK) return err;
    for (size_t i = 0; err == SHOAL_OK && i < job->n; i++)
        err = agg_dap_report_find(store, &l->reports, error, task->number, job->ids + i * SHOAL_DAP_REPORT_ID);
    agg_dap_abandon(store); // nothing was written
    if (err != SHOAL_OK) return err;
    if (l->reports.n != job->n) return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "a report of the job is missing");
    l->errors = agg_alloc(error, job->n, sizeof *l->errors);
    return l->errors == NULL ? AGG_ERR_MEMORY : begin_all(l, error);
}

// Whether a reply has a response for every report of the job, in order, and nothing else.
static int is_whole_reply(const agg_dap_reply *reply, const agg_dap_job *job)
{
    shoal_dap_reader r = {reply->body, reply->len, 0};
    for (size_t i = 0; i < job->n; i++) {
        shoal_dap_verify_resp resp;
        if (shoal_dap_read_verify_resp(&resp, &r) != SHOAL_OK || resp.kind == SHOAL_DAP_FINISH ||
            memcmp(resp.id, job->ids + i * SHOAL_DAP_REPORT_ID, sizeof resp.id) != 0)
            return 0;
    }
    return shoal_dap_is_at_end(&r);
}

// Ends the verification of every report that the helper accepted, and sums up the output shares.
static shoal_err sum_up(agg_dap_sums *sums, work_list *l, agg_error *error, const agg_dap_reply *reply)
{
    size_t state_len = agg_dap_state_len(l->vdaf), output_len = agg_dap_output_len(l->vdaf);
    uint8_t *output = agg_alloc(error, output_len, 1);
    if (output == NULL) return AGG_ERR_MEMORY;
    shoal_err err = SHOAL_OK;
    shoal_dap_reader r = {reply->body, reply->len, 0};
    for (size_t i = 0; err == SHOAL_OK && i < l->reports.n; i++) {
        shoal_dap_verify_resp resp;
        if (shoal_dap_read_verify_resp(&resp, &r) != SHOAL_OK) break; // it was read before
        if (resp.kind == SHOAL_DAP_REJECT)
            l->errors[i] = resp.error < AGG_DAP_ERRORS && resp.error != 0 ? resp.error : SHOAL_DAP_INVALID_MESSAGE;
        if (l->errors[i] == 0)
            l->errors[i] = agg_dap_leader_end(output, l->vdaf, l->states + i * state_len, resp.payload);
        if (l->errors[i] == 0)
            err = agg_dap_sums_add(sums, error, l->vdaf, l->reports.list[i].bucket, l->reports.list[i].id, output);
    }
    wipe(output, output_len);
    free(output);
    return err;
}

// Sums, the reports' removal and the job's, in one transaction.
static shoal_err commit_job(const agg_dap_sums *sums, const work_list *l, agg_error *error, agg_dap_served *task)
{
    agg_dap_store *store = l->party->store;
    shoal_err err = agg_dap_begin(store, error);
    if (err != SHOAL_OK) return err;
    err = agg_dap_sums_store(sums, store, error, task);
    for (size_t i = 0; err == SHOAL_OK && i < l->reports.n; i++)
        err = agg_dap_report_remove(store, error, task->number, l->reports.list[i].id);
    if (err == SHOAL_OK) err = agg_dap_job_remove(store, error, task->number);
    return end_step(store, error, err);
}

static shoal_err end_job(work_list *l, agg_error *error, agg_dap_served *task, const agg_dap_job *job,
                         const agg_dap_reply *reply)
{
    agg_dap_sums sums = {0};
    shoal_err err = l->reports.n == 0 ? restore_list(l, error, job, task) : SHOAL_OK;
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

// Gives a job up. with_reports: its reports are never sent again, for the helper may have aggregated them.
static shoal_err drop_job(agg_dap_party *party, agg_error *error, const agg_dap_served *task, const agg_dap_job *job,
                          int with_reports)
{
    shoal_err err = agg_dap_begin(party->store, error);
    if (err != SHOAL_OK) return err;
    err = agg_dap_job_remove(party->store, error, task->number);
    for (size_t i = 0; with_reports && err == SHOAL_OK && i < job->n; i++)
        err = agg_dap_report_remove(party->store, error, task->number, job->ids + i * SHOAL_DAP_REPORT_ID);
    return end_step(party->store, error, err);
}

static shoal_err fail_reply(agg_error *error, const agg_dap_served *task, const agg_dap_reply *reply)
{
    const char *problem = reply->problem >= 0 ? shoal_dap_problem_name((enum shoal_dap_problem)reply->problem) : "";
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "task %s: the helper answered %u%s%s", task->name, reply->status,
                    *problem == '\0' ? "" : ", ", problem);
}

// The helper answered something else than the job's responses.
static shoal_err refuse_reply(agg_dap_party *party, agg_error *error, agg_dap_served *task, const agg_dap_link *link,
                              const agg_dap_job *job, const agg_dap_reply *reply)
{
    agg_error ignored;
    if (reply->status == 413 && job->n > 1) { // nothing of it was looked at: smaller ones
        task->job_cap = job->n / 2;
        return drop_job(party, error, task, job, 0);
    }
    if (reply->status / 100 == 2 && reply->len > 0 && ++task->bad_replies >= BAD_REPLIES_MAX) {
        task->bad_replies = 0;
        atomic_fetch_add(&task->refused[SHOAL_DAP_REPORT_DROPPED], job->n);
        atomic_fetch_sub(&task->pending, (long long)job->n);
        (void)!drop_job(party, &ignored, task, job, 1);
        if (reply->location != NULL) link->remove(link->self, reply->location);
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO,
                        "task %s: the helper's answers are not of the job; it is abandoned with %zu reports",
                        task->name, job->n);
    }
    return fail_reply(error, task, reply);
}

static shoal_err send_job(agg_dap_party *party, work_list *l, agg_error *error, agg_dap_served *task,
                          const agg_dap_link *link, const agg_dap_job *job)
{
    agg_dap_reply reply = {0};
    shoal_err err =
        link->post(link->self, &reply, error, task, SHOAL_DAP_AGGREGATION_JOBS, SHOAL_DAP_AGGREGATION_JOB_INIT_REQ,
                   (shoal_bytes){job->request, job->len}, SHOAL_DAP_AGGREGATION_JOB_RESP);
    if (err != SHOAL_OK) return err;
    int is_answer = reply.status / 100 == 2 && reply.body != NULL && is_whole_reply(&reply, job);
    if (is_answer) task->bad_replies = 0;
    err = is_answer ? end_job(l, error, task, job, &reply) : refuse_reply(party, error, task, link, job, &reply);
    end_reply(&reply);
    return err;
}

// ---- collections ----

// Fails a collection, or moves it on. Between begin and commit.
static shoal_err set_failed(agg_dap_party *party, agg_error *error, const agg_dap_served *task, agg_dap_collection *c,
                            int problem)
{
    c->state = AGG_DAP_FAILED;
    c->problem = (uint32_t)problem;
    free(c->share_request);
    c->share_request = NULL;
    return agg_dap_collection_set(party->store, error, task->number, c);
}

static shoal_err write_share_request(agg_dap_collection *c, agg_error *error, const agg_dap_batch *batch)
{
    shoal_dap_aggregate_share_req req = {.collection_req = {c->request, c->request_len},
                                         .query = c->query,
                                         .batch = c->query,
                                         .report_count = batch->n_reports};
    memcpy(req.checksum, batch->checksum, sizeof req.checksum);
    shoal_dap_writer w = {NULL, 0, 0, 0};
    shoal_dap_put_aggregate_share_req(&w, &req);
    shoal_err err = agg_dap_writer_init(&w, error, w.len);
    if (err != SHOAL_OK) return err;
    shoal_dap_put_aggregate_share_req(&w, &req);
    c->share_request = w.at;
    c->share_request_len = w.len;
    return SHOAL_OK;
}

// Whether no clock that we believe can still add to an interval.
static int is_over(const agg_dap_served *task, const shoal_dap_interval *interval, uint64_t now_s)
{
    uint64_t last = interval->start + interval->duration;
    return now_s > AGG_DAP_LEEWAY_S && last <= (now_s - AGG_DAP_LEEWAY_S) / task->vdaf.task.time_precision_s;
}

// Decides about a collection whose reports are all aggregated. Between begin and commit.
static shoal_err advance(agg_dap_party *party, agg_error *error, const agg_dap_served *task, agg_dap_collection *c,
                         uint64_t now_s)
{
    int is_collected = 0;
    agg_dap_batch batch = {0};
    shoal_err err = agg_dap_is_collected(party->store, &is_collected, error, task->number, c->query);
    if (err != SHOAL_OK) return err;
    if (is_collected) return set_failed(party, error, task, c, SHOAL_DAP_PROBLEM_BATCH_OVERLAP);
    err = agg_dap_batch_load(&batch, party->store, error, task, c->query);
    if (err != SHOAL_OK) return err;
    if (batch.n_reports > 0 && batch.n_reports >= task->vdaf.task.min_batch_size) {
        err = write_share_request(c, error, &batch);
        c->state = AGG_DAP_SENDING;
        if (err == SHOAL_OK) err = agg_dap_collection_set(party->store, error, task->number, c);
    } else if (is_over(task, &c->query, now_s)) {
        err = set_failed(party, error, task, c, SHOAL_DAP_PROBLEM_INVALID_BATCH_SIZE);
    }
    agg_dap_batch_release(&batch);
    return err;
}

static shoal_err write_answer(agg_dap_collection *c, agg_error *error, const agg_dap_party *party,
                              const agg_dap_served *task, const agg_dap_batch *batch,
                              const shoal_dap_ciphertext *helper)
{
    uint8_t enc[AGG_HPKE_ENC];
    size_t sealed_len = agg_dap_output_len(&task->vdaf) + SHOAL_DAP_SEAL;
    uint8_t *sealed = agg_alloc(error, sealed_len, 1);
    if (sealed == NULL) return AGG_ERR_MEMORY;
    shoal_err err = agg_dap_seal_aggregate(enc, sealed, error, &task->vdaf, &party->collector, SHOAL_DAP_LEADER,
                                           (shoal_bytes){c->request, c->request_len}, batch->share);
    const shoal_dap_collection_resp resp = {
        batch->n_reports, batch->interval, {party->collector.id, {enc, sizeof enc}, {sealed, sealed_len}}, *helper};
    shoal_dap_writer w = {NULL, 0, 0, 0};
    shoal_dap_put_collection_resp(&w, &resp);
    if (err == SHOAL_OK) err = agg_dap_writer_init(&w, error, w.len);
    if (err == SHOAL_OK) {
        shoal_dap_put_collection_resp(&w, &resp);
        c->answer = w.at;
        c->answer_len = w.len;
    }
    free(sealed);
    return err;
}

// The batch is given out: the answer, the closed interval and the end of late reports in one transaction.
static shoal_err finish(agg_dap_party *party, agg_error *error, agg_dap_served *task, agg_dap_collection *c,
                        const shoal_dap_ciphertext *helper)
{
    uint64_t n_late = 0;
    agg_dap_batch batch = {0};
    shoal_err err = agg_dap_begin(party->store, error);
    if (err != SHOAL_OK) return err;
    err = agg_dap_batch_load(&batch, party->store, error, task, c->query);
    if (err == SHOAL_OK && batch.share == NULL)
        err = agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "task %s: a batch is gone", task->name);
    if (err == SHOAL_OK) err = write_answer(c, error, party, task, &batch, helper);
    agg_dap_batch_release(&batch);
    c->state = AGG_DAP_READY;
    if (err == SHOAL_OK) err = agg_dap_collection_set(party->store, error, task->number, c);
    if (err == SHOAL_OK) err = agg_dap_batch_close(party->store, error, task->number, c->query);
    if (err == SHOAL_OK) err = agg_dap_report_remove_all(party->store, &n_late, error, task->number, c->query);
    err = end_step(party->store, error, err);
    if (err != SHOAL_OK) return err;
    atomic_fetch_add(&task->collected, 1);
    atomic_fetch_add(&task->refused[SHOAL_DAP_BATCH_COLLECTED], n_late);
    atomic_fetch_sub(&task->pending, (long long)n_late);
    return SHOAL_OK;
}

static shoal_err fail_collection(agg_dap_party *party, agg_error *error, const agg_dap_served *task,
                                 agg_dap_collection *c, int problem)
{
    shoal_err err = agg_dap_begin(party->store, error);
    if (err != SHOAL_OK) return err;
    err = set_failed(party, error, task, c, problem);
    return end_step(party->store, error, err);
}

// Asks the helper for its share.
static shoal_err ask_share(agg_dap_party *party, agg_error *error, agg_dap_served *task, const agg_dap_link *link,
                           agg_dap_collection *c)
{
    agg_dap_reply reply = {0};
    shoal_dap_ciphertext helper;
    shoal_err err =
        link->post(link->self, &reply, error, task, SHOAL_DAP_AGGREGATE_SHARES, SHOAL_DAP_AGGREGATE_SHARE_REQ,
                   (shoal_bytes){c->share_request, c->share_request_len}, SHOAL_DAP_AGGREGATE_SHARE);
    if (err != SHOAL_OK) return err;
    shoal_dap_reader r = {reply.body, reply.len, 0};
    if (reply.status / 100 == 4 && reply.problem >= 0 && reply.problem != SHOAL_DAP_PROBLEM_UNRECOGNIZED_TASK) {
        err = fail_collection(party, error, task, c, reply.problem);
    } else if (reply.status / 100 == 2 && reply.body != NULL && shoal_dap_read_ciphertext(&helper, &r) == SHOAL_OK &&
               shoal_dap_is_at_end(&r)) {
        err = finish(party, error, task, c, &helper);
    } else {
        err = fail_reply(error, task, &reply);
    }
    end_reply(&reply);
    return err;
}

static shoal_err next_collection(agg_dap_collection *c, agg_dap_party *party, agg_error *error,
                                 const agg_dap_served *task, enum agg_dap_collection_state state, const uint8_t *after)
{
    shoal_err err = agg_dap_begin(party->store, error);
    if (err != SHOAL_OK) return err;
    err = agg_dap_collection_next(party->store, c, error, task->number, state, after);
    agg_dap_abandon(party->store); // nothing was written
    return err;
}

// Moves the first waiting collection on whose reports are all aggregated and that can be decided. *is_moved: there was one.
static shoal_err advance_waiting(int *is_moved, agg_dap_party *party, agg_error *error, const agg_dap_served *task,
                                 uint64_t now_s)
{
    agg_dap_collection c = {0};
    uint8_t after[AGG_DAP_ID];
    uint64_t n_pending = 0;
    *is_moved = 0;
    shoal_err err = agg_dap_begin(party->store, error);
    if (err != SHOAL_OK) return err;
    for (const uint8_t *from = NULL; err == SHOAL_OK && !*is_moved; from = after) {
        agg_dap_collection_release(&c);
        err = agg_dap_collection_next(party->store, &c, error, task->number, AGG_DAP_WAITING, from);
        if (err != SHOAL_OK || c.request == NULL) break;
        memcpy(after, c.id, sizeof after);
        err = agg_dap_report_count(party->store, &n_pending, error, task->number, c.query, 1);
        if (err == SHOAL_OK && n_pending == 0) err = advance(party, error, task, &c, now_s);
        *is_moved = c.state != AGG_DAP_WAITING;
    }
    agg_dap_collection_release(&c);
    return end_step(party->store, error, err);
}

// ---- turns ----

// Goes on with what is under way. *is_under_way: there was something.
static shoal_err resume(int *is_under_way, agg_dap_party *party, agg_error *error, agg_dap_served *task,
                        const agg_dap_link *link)
{
    agg_dap_job job = {0};
    agg_dap_collection c = {0};
    work_list l = {.party = party, .vdaf = &task->vdaf};
    shoal_err err = agg_dap_begin(party->store, error);
    if (err != SHOAL_OK) return err;
    err = agg_dap_job_get(party->store, &job, error, task->number);
    agg_dap_abandon(party->store); // nothing was written
    if (err == SHOAL_OK && job.request == NULL) err = next_collection(&c, party, error, task, AGG_DAP_SENDING, NULL);
    *is_under_way = job.request != NULL || c.request != NULL;
    if (err == SHOAL_OK && job.request != NULL) err = send_job(party, &l, error, task, link, &job);
    if (err == SHOAL_OK && c.request != NULL) err = ask_share(party, error, task, link, &c);
    release_list(&l);
    agg_dap_job_release(&job);
    agg_dap_collection_release(&c);
    return err;
}

// Whether somebody waits for a batch to which nothing can be added any more but what has come late. Between begin and commit.
static shoal_err is_awaited(int *is_so, agg_dap_party *party, agg_error *error, const agg_dap_served *task,
                            uint64_t now_s)
{
    agg_dap_collection c = {0};
    uint8_t after[AGG_DAP_ID];
    shoal_err err = SHOAL_OK;
    *is_so = 0;
    for (const uint8_t *from = NULL; err == SHOAL_OK && !*is_so; from = after) {
        err = agg_dap_collection_next(party->store, &c, error, task->number, AGG_DAP_WAITING, from);
        if (err != SHOAL_OK || c.request == NULL) break;
        *is_so = is_over(task, &c.query, now_s);
        memcpy(after, c.id, sizeof after);
        agg_dap_collection_release(&c);
    }
    return err;
}

// Whether it is time for a job: a full one waits, or somebody waits for one.
static shoal_err is_job_due(int *is_due, agg_dap_party *party, agg_error *error, const agg_dap_served *task,
                            uint64_t now_s, int is_eager)
{
    const shoal_dap_interval always = {0, UINT64_MAX};
    uint64_t n = 0, full = job_reports(party, task);
    shoal_err err = agg_dap_begin(party->store, error);
    if (err != SHOAL_OK) return err;
    err = agg_dap_report_count(party->store, &n, error, task->number, always, full);
    if (err == SHOAL_OK && n > 0 && n < full && !is_eager) err = is_awaited(&is_eager, party, error, task, now_s);
    agg_dap_abandon(party->store); // nothing was written
    *is_due = n > 0 && (is_eager || n == full);
    return err;
}

static shoal_err run_new_job(agg_dap_party *party, agg_error *error, agg_dap_served *task, const agg_dap_link *link)
{
    agg_dap_job job = {0};
    work_list l = {.party = party, .vdaf = &task->vdaf};
    shoal_err err = make_job(&job, &l, error, task);
    if (err == SHOAL_OK && job.request != NULL) err = send_job(party, &l, error, task, link, &job);
    release_list(&l);
    agg_dap_job_release(&job);
    return err;
}

shoal_err agg_dap_leader_turn(int *is_more, agg_error *error, agg_dap_party *party, agg_dap_served *task,
                              const agg_dap_link *link, uint64_t now_s, int is_eager)
{
    int is_due = 0;
    *is_more = 0;
    shoal_err err = resume(is_more, party, error, task, link);
    if (err == SHOAL_OK && *is_more == 0) {
        err = is_job_due(&is_due, party, error, task, now_s, is_eager);
        if (err == SHOAL_OK && is_due) err = run_new_job(party, error, task, link);
        if (err == SHOAL_OK && !is_due) err = advance_waiting(is_more, party, error, task, now_s);
        *is_more |= is_due;
    }
    atomic_store(&task->is_failing, err != SHOAL_OK);
    return err;
}
