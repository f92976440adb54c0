// SPDX-License-Identifier: Apache-2.0
// The helper's answers; see dap_helper.h and the draft's sections "Helper Initialization" and
// "Obtaining Aggregate Shares".
#include "dap_helper.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "agg_parallel.h"
#include "agg_size.h"
#include "bytes.h"
#include "dap_noise.h"

// Lets one job run at a time, because a job takes much memory and all cores.
static pthread_mutex_t one_job = PTHREAD_MUTEX_INITIALIZER;

#define RESPONSE_MAX 64u // bytes of one report's response

// One report of a job.
typedef struct item {
    shoal_dap_verify_init init;
    uint64_t bucket;
    uint32_t error; // enum shoal_dap_report_error
} item;

typedef struct job {
    const agg_dap_party *party;
    const agg_dap_vdaf *vdaf;
    item *items;
    size_t n, cap;
    uint8_t *outputs, *messages; // one of each for each report
    agg_dap_work *works;         // one for each thread
    uint8_t *states;
} job;

static void release_job(job *j)
{
    if (j->outputs != NULL) wipe(j->outputs, j->n * agg_dap_output_len(j->vdaf));
    if (j->states != NULL) wipe(j->states, j->party->n_threads * agg_dap_state_len(j->vdaf));
    for (unsigned i = 0; j->works != NULL && i < j->party->n_threads; i++)
        agg_dap_work_release(&j->works[i]);
    free(j->items);
    free(j->outputs);
    free(j->messages);
    free(j->works);
    free(j->states);
}

// A report takes its output share, a sum when its bucket has no other report, its messages and ids,
// its part of the reply, and the database's copy of that part.
uint64_t agg_dap_helper_report_bytes(const agg_dap_vdaf *vdaf)
{
    return sizeof(item) + sizeof(agg_dap_bucket) + 2 * (uint64_t)agg_dap_output_len(vdaf) +
           shoal_prio3_message_len(&vdaf->prio3) + SHOAL_DAP_REPORT_ID + 2 * RESPONSE_MAX;
}

static size_t reports_max(const job *j)
{
    uint64_t bytes = j->party->job_bytes > 0 ? j->party->job_bytes : AGG_DAP_JOB_BYTES;
    uint64_t n = bytes / agg_dap_helper_report_bytes(j->vdaf);
    return n > 0 ? (size_t)n : 1;
}

static int by_id(const void *a, const void *b)
{
    return memcmp(a, b, SHOAL_DAP_REPORT_ID);
}

// Finds whether two reports of the job have the same id.
static agg_err find_twice(bool *found, agg_error *error, const job *j)
{
    uint8_t(*ids)[SHOAL_DAP_REPORT_ID] = agg_alloc(error, j->n, SHOAL_DAP_REPORT_ID);
    if (ids == NULL) return AGG_ERR_MEMORY;
    for (size_t i = 0; i < j->n; i++)
        memcpy(ids[i], j->items[i].init.metadata.id, SHOAL_DAP_REPORT_ID);
    qsort(ids, j->n, sizeof *ids, by_id);
    *found = false;
    for (size_t i = 1; i < j->n; i++) *found |= by_id(ids[i - 1], ids[i]) == 0;
    free(ids);
    return SHOAL_OK;
}

static void refuse(agg_dap_answer *answer, int problem, const char *detail)
{
    agg_dap_answer_problem(answer, 400, problem, detail);
}

// Reads the request. Writes the answer when it fails.
static agg_err read_job(job *j, agg_dap_answer *answer, shoal_bytes body,
                        const agg_dap_served *task, uint64_t now_s)
{
    agg_error error;
    uint8_t key_id = 0;
    shoal_dap_reader r = {body.at, body.len, 0};
    agg_err err = shoal_dap_read_job_head(&key_id, &r);
    if (err == SHOAL_OK && key_id != 0) err = SHOAL_ERR_RANGE;
    while (err == SHOAL_OK && !shoal_dap_is_at_end(&r)) {
        if (j->n == reports_max(j)) {
            agg_dap_answer_problem(answer, 413, AGG_DAP_OTHER_PROBLEM,
                                   "an aggregation job of too many reports");
            return SHOAL_ERR_OVERFLOW;
        }
        err = agg_grow((void **)&j->items, &j->cap, j->n + 1, sizeof *j->items, &error);
        if (err != SHOAL_OK) break;
        item *one = &j->items[j->n];
        *one = (item){0};
        err = shoal_dap_read_verify_init(&one->init, &r);
        if (err != SHOAL_OK) break;
        one->bucket = agg_dap_bucket_of(j->vdaf, one->init.metadata.time);
        one->error = agg_dap_check_time(task, one->init.metadata.time, now_s);
        j->n++;
    }
    if (err == AGG_ERR_MEMORY) {
        agg_dap_answer_failed(answer, &error);
    } else if (err != SHOAL_OK) {
        refuse(answer, agg_dap_problem_of(err), "the aggregation job could not be read");
    } else if (j->n == 0) {
        refuse(answer, SHOAL_DAP_PROBLEM_INVALID_MESSAGE,
               "an aggregation job has one report at least");
        err = SHOAL_ERR_TRUNCATED;
    }
    return err;
}

// Verifies every n_parts-th report.
static void verify_part(void *context, unsigned part, unsigned n_parts)
{
    job *j = context;
    size_t output_len = agg_dap_output_len(j->vdaf),
           message_len = shoal_prio3_message_len(&j->vdaf->prio3);
    uint8_t *state = j->states + part * agg_dap_state_len(j->vdaf);
    for (size_t i = part; i < j->n; i += n_parts) {
        item *one = &j->items[i];
        if (one->error != 0) continue;
        one->error =
            agg_dap_helper_verify(j->outputs + i * output_len, j->messages + i * message_len, state,
                                  &j->works[part], j->vdaf, &j->party->keys, &one->init);
    }
}

static agg_err verify_all(job *j, agg_error *error)
{
    unsigned n_threads = j->party->n_threads;
    j->outputs = agg_alloc(error, j->n, agg_dap_output_len(j->vdaf));
    j->messages = agg_alloc(error, j->n, shoal_prio3_message_len(&j->vdaf->prio3));
    j->states = agg_alloc(error, n_threads, agg_dap_state_len(j->vdaf));
    j->works = agg_alloc(error, n_threads, sizeof *j->works);
    if (j->outputs == NULL || j->messages == NULL || j->states == NULL || j->works == NULL)
        return AGG_ERR_MEMORY;
    for (unsigned i = 0; i < n_threads; i++) {
        agg_err err = agg_dap_work_init(&j->works[i], error, j->vdaf);
        if (err != SHOAL_OK) return err;
    }
    agg_parallel(n_threads, verify_part, j);
    return SHOAL_OK;
}

// Adds one verified report to the sums unless its id is known. Call between begin and commit.
static agg_err commit_one(job *j, agg_dap_sums *sums, agg_error *error, const agg_dap_served *task,
                          size_t i)
{
    item *one = &j->items[i];
    const uint8_t *id = one->init.metadata.id;
    bool is_known = false;
    agg_err err =
        agg_dap_check_bucket(&one->error, j->party->store, error, task->number, one->bucket);
    if (err != SHOAL_OK || one->error != 0) return err;
    err = agg_dap_is_known(j->party->store, &is_known, error, task->number, id);
    if (err == SHOAL_OK && is_known) one->error = SHOAL_DAP_REPORT_REPLAYED;
    if (err != SHOAL_OK || is_known) return err;
    err = agg_dap_know(j->party->store, error, task->number, id, one->bucket);
    if (err != SHOAL_OK) return err;
    return agg_dap_sums_add(sums, error, j->vdaf, one->bucket, id,
                            j->outputs + i * agg_dap_output_len(j->vdaf));
}

static void put_responses(shoal_dap_writer *w, const job *j)
{
    size_t message_len = shoal_prio3_message_len(&j->vdaf->prio3);
    uint8_t finish[5 + SHOAL_PRIO3_VERIFY_KEY];
    for (size_t i = 0; i < j->n; i++) {
        const item *one = &j->items[i];
        shoal_dap_verify_resp resp = {
            .kind = one->error == 0 ? SHOAL_DAP_CONTINUE : SHOAL_DAP_REJECT, .error = one->error};
        memcpy(resp.id, one->init.metadata.id, sizeof resp.id);
        shoal_dap_writer payload = {finish, sizeof finish, 0, 0};
        shoal_dap_put_finish(&payload, (shoal_bytes){j->messages + i * message_len, message_len});
        resp.payload = (shoal_bytes){finish, payload.len};
        shoal_dap_put_verify_resp(w, &resp);
    }
}

static agg_err write_responses(uint8_t **body, size_t *len, agg_error *error, const job *j)
{
    shoal_dap_writer w = {NULL, 0, 0, 0};
    put_responses(&w, j);
    *len = w.len;
    agg_err err = agg_dap_writer_init(&w, error, *len);
    if (err != SHOAL_OK) return err;
    put_responses(&w, j);
    *body = w.at;
    return SHOAL_OK;
}

// Adds the job to the store, or finds that the same job was committed meanwhile. Call between begin
// and commit.
//   body: the answer
static agg_err commit_job(uint8_t **body, size_t *len, job *j, agg_error *error,
                          const agg_dap_served *task, const uint8_t hash[AGG_DAP_HASH],
                          uint64_t now_s)
{
    agg_err err = agg_dap_answer_get(j->party->store, body, len, error, task->number,
                                     AGG_DAP_OF_JOB, hash, false);
    if (err != SHOAL_OK || *body != NULL) return err;
    agg_dap_sums sums = {0};
    for (size_t i = 0; err == SHOAL_OK && i < j->n; i++) {
        if (j->items[i].error == 0) err = commit_one(j, &sums, error, task, i);
    }
    if (err == SHOAL_OK) err = agg_dap_sums_store(&sums, j->party->store, error, task);
    agg_dap_sums_release(&sums);
    if (err == SHOAL_OK) err = write_responses(body, len, error, j);
    if (err == SHOAL_OK)
        err = agg_dap_answer_set(j->party->store, error, task->number, AGG_DAP_OF_JOB, hash,
                                 now_s / task->vdaf.task.time_precision_s,
                                 (shoal_bytes){*body, *len});
    return err;
}

static void count_job(const job *j, agg_dap_served *task)
{
    atomic_fetch_add(&task->jobs, 1);
    for (size_t i = 0; i < j->n; i++) {
        uint32_t error = j->items[i].error;
        atomic_fetch_add(error == 0 ? &task->aggregated : &task->refused[error], 1);
    }
}

// Finds the answer that this request got before.
//   body: NULL when there is none
static agg_err find_answer(uint8_t **body, size_t *len, agg_error *error,
                           const agg_dap_party *party, const agg_dap_served *task,
                           enum agg_dap_answer_kind kind, const uint8_t *hash, bool by_id)
{
    agg_err err = agg_dap_begin(party->store, error);
    if (err != SHOAL_OK) return err;
    err = agg_dap_answer_get(party->store, body, len, error, task->number, kind, hash, by_id);
    agg_dap_abandon(party->store); // the transaction only read
    return err;
}

static agg_err run_job(uint8_t **body, size_t *len, job *j, agg_error *error, agg_dap_served *task,
                       const uint8_t hash[AGG_DAP_HASH], uint64_t now_s)
{
    agg_err err = verify_all(j, error);
    if (err == SHOAL_OK) err = agg_dap_begin(j->party->store, error);
    if (err != SHOAL_OK) return err;
    err = commit_job(body, len, j, error, task, hash, now_s);
    if (err == SHOAL_OK) {
        err = agg_dap_commit(j->party->store, error);
    } else {
        agg_dap_abandon(j->party->store);
    }
    if (err == SHOAL_OK) {
        count_job(j, task);
        return SHOAL_OK;
    }
    free(*body);
    *body = NULL;
    return err;
}

static void aggregate(agg_dap_answer *answer, agg_dap_party *party, agg_dap_served *task,
                      shoal_bytes body, uint64_t now_s)
{
    job j = {.party = party, .vdaf = &task->vdaf};
    agg_error error;
    uint8_t hash[AGG_DAP_HASH], *reply = NULL;
    size_t len = 0;
    bool is_twice = false;
    agg_dap_hash(hash, body);
    agg_err err = find_answer(&reply, &len, &error, party, task, AGG_DAP_OF_JOB, hash, false);
    if (err == SHOAL_OK && reply == NULL) {
        err = read_job(&j, answer, body, task, now_s);
        if (err != SHOAL_OK) {
            release_job(&j);
            return; // the answer is written
        }
        err = find_twice(&is_twice, &error, &j);
        if (err == SHOAL_OK && !is_twice)
            err = run_job(&reply, &len, &j, &error, task, hash, now_s);
    }
    if (err != SHOAL_OK) {
        agg_dap_answer_failed(answer, &error);
    } else if (is_twice) {
        refuse(answer, SHOAL_DAP_PROBLEM_INVALID_MESSAGE, "two reports of the job have one id");
    } else {
        agg_dap_answer_body(answer, 201, SHOAL_DAP_AGGREGATION_JOB_RESP, reply, len);
        agg_dap_answer_location(answer, SHOAL_DAP_AGGREGATION_JOBS, hash);
    }
    release_job(&j);
}

void agg_dap_helper_aggregate(agg_dap_answer *answer, agg_dap_party *party, agg_dap_served *task,
                              shoal_bytes body, uint64_t now_s)
{
    pthread_mutex_lock(&one_job);
    aggregate(answer, party, task, body, now_s);
    pthread_mutex_unlock(&one_job);
}

// ---- aggregate shares ----

// Checks whether a batch may be given out. Call between begin and commit.
//   problem: why it may not, or AGG_DAP_NO_PROBLEM
static agg_err check_batch(int *problem, agg_dap_batch *batch, agg_error *error,
                           const agg_dap_party *party, const agg_dap_served *task,
                           const shoal_dap_aggregate_share_req *req)
{
    bool is_collected = false;
    *problem = AGG_DAP_NO_PROBLEM;
    agg_err err =
        agg_dap_is_collected(party->store, &is_collected, error, task->number, req->batch);
    if (err == SHOAL_OK && !is_collected)
        err = agg_dap_batch_load(batch, party->store, error, task, req->batch);
    if (err != SHOAL_OK) return err;
    if (is_collected) {
        *problem = SHOAL_DAP_PROBLEM_BATCH_OVERLAP;
    } else if (batch->n_reports == 0 || batch->n_reports < task->vdaf.task.min_batch_size) {
        *problem = SHOAL_DAP_PROBLEM_INVALID_BATCH_SIZE;
    } else if (batch->n_reports != req->report_count ||
               memcmp(batch->checksum, req->checksum, sizeof req->checksum) != 0) {
        *problem = SHOAL_DAP_PROBLEM_BATCH_MISMATCH;
    }
    return SHOAL_OK;
}

// Seals the share into an AggregateShare message.
static agg_err seal_share(uint8_t **body, size_t *len, agg_error *error, const agg_dap_party *party,
                          const agg_dap_served *task, shoal_bytes collection_req,
                          const agg_dap_batch *batch)
{
    uint8_t enc[AGG_HPKE_ENC];
    size_t sealed_len = agg_dap_output_len(&task->vdaf) + SHOAL_DAP_SEAL;
    uint8_t *sealed = agg_alloc(error, sealed_len, 1);
    if (sealed == NULL) return AGG_ERR_MEMORY;
    agg_err err = agg_dap_seal_aggregate(enc, sealed, error, &task->vdaf, &party->collector,
                                         SHOAL_DAP_HELPER, collection_req, batch->share);
    const shoal_dap_ciphertext c = {party->collector.id, {enc, sizeof enc}, {sealed, sealed_len}};
    shoal_dap_writer w = {NULL, 0, 0, 0};
    shoal_dap_put_ciphertext(&w, &c);
    *len = w.len;
    if (err == SHOAL_OK) err = agg_dap_writer_init(&w, error, *len);
    if (err == SHOAL_OK) {
        shoal_dap_put_ciphertext(&w, &c);
        *body = w.at;
    }
    free(sealed);
    return err;
}

// Gives the batch out and closes it. A task's noise is drawn once: a repeated request gets the kept
// answer. Call between begin and commit.
static agg_err give_out(uint8_t **body, size_t *len, int *problem, agg_error *error,
                        const agg_dap_party *party, const agg_dap_served *task,
                        const shoal_dap_aggregate_share_req *req, const uint8_t hash[AGG_DAP_HASH],
                        uint64_t now_s)
{
    *problem = AGG_DAP_NO_PROBLEM;
    agg_err err = agg_dap_answer_get(party->store, body, len, error, task->number, AGG_DAP_OF_SHARE,
                                     hash, false);
    if (err != SHOAL_OK || *body != NULL) return err;
    agg_dap_batch batch = {0};
    err = check_batch(problem, &batch, error, party, task, req);
    if (err == SHOAL_OK && *problem == AGG_DAP_NO_PROBLEM)
        err = agg_dap_noise_add(batch.share, error, &task->vdaf);
    if (err == SHOAL_OK && *problem == AGG_DAP_NO_PROBLEM)
        err = seal_share(body, len, error, party, task, req->collection_req, &batch);
    agg_dap_batch_release(&batch);
    if (err != SHOAL_OK || *problem != AGG_DAP_NO_PROBLEM) return err;
    err = agg_dap_batch_close(party->store, error, task->number, req->batch);
    return err == SHOAL_OK ? agg_dap_answer_set(party->store, error, task->number, AGG_DAP_OF_SHARE,
                                                hash, now_s / task->vdaf.task.time_precision_s,
                                                (shoal_bytes){*body, *len})
                           : err;
}

static const char *detail_of(int problem)
{
    switch (problem) {
    case SHOAL_DAP_PROBLEM_BATCH_OVERLAP: return "some of the batch was collected before";
    case SHOAL_DAP_PROBLEM_INVALID_BATCH_SIZE: return "fewer reports than the task's minimum batch";
    default: return "the two servers did not aggregate the same reports";
    }
}

void agg_dap_helper_share(agg_dap_answer *answer, agg_dap_party *party, agg_dap_served *task,
                          shoal_bytes body, uint64_t now_s)
{
    agg_error error;
    shoal_dap_aggregate_share_req req;
    uint8_t hash[AGG_DAP_HASH], *reply = NULL;
    size_t len = 0;
    int problem = AGG_DAP_NO_PROBLEM;
    agg_err err = shoal_dap_read_aggregate_share_req(&req, body);
    if (err != SHOAL_OK) {
        refuse(answer, agg_dap_problem_of(err), "the request could not be read");
        return;
    }
    if (!shoal_dap_interval_is_within(&req.batch, &req.query)) {
        refuse(answer, SHOAL_DAP_PROBLEM_BATCH_INVALID,
               "the batch is no interval within the query");
        return;
    }
    agg_dap_hash(hash, body);
    err = agg_dap_begin(party->store, &error);
    if (err == SHOAL_OK) {
        err = give_out(&reply, &len, &problem, &error, party, task, &req, hash, now_s);
        if (err == SHOAL_OK) {
            err = agg_dap_commit(party->store, &error);
        } else {
            agg_dap_abandon(party->store);
        }
    }
    if (err != SHOAL_OK) {
        free(reply);
        agg_dap_answer_failed(answer, &error);
    } else if (problem != AGG_DAP_NO_PROBLEM) {
        refuse(answer, problem, detail_of(problem));
    } else {
        atomic_fetch_add(&task->collected, 1);
        agg_dap_answer_body(answer, 201, SHOAL_DAP_AGGREGATE_SHARE, reply, len);
        agg_dap_answer_location(answer, SHOAL_DAP_AGGREGATE_SHARES, hash);
    }
}

// ---- resources ----

void agg_dap_helper_get(agg_dap_answer *answer, agg_dap_party *party, agg_dap_served *task,
                        enum agg_dap_answer_kind kind, const uint8_t id[AGG_DAP_ID])
{
    agg_error error;
    uint8_t *body = NULL;
    size_t len = 0;
    agg_err err = find_answer(&body, &len, &error, party, task, kind, id, true);
    if (err != SHOAL_OK) {
        agg_dap_answer_failed(answer, &error);
    } else if (body != NULL) {
        agg_dap_answer_body(answer, 200,
                            kind == AGG_DAP_OF_JOB ? SHOAL_DAP_AGGREGATION_JOB_RESP
                                                   : SHOAL_DAP_AGGREGATE_SHARE,
                            body, len);
    } else {
        agg_dap_answer_problem(answer, 404,
                               kind == AGG_DAP_OF_JOB
                                   ? (int)SHOAL_DAP_PROBLEM_UNRECOGNIZED_AGGREGATION_JOB
                                   : AGG_DAP_OTHER_PROBLEM,
                               "there is no aggregation job or share with this id");
    }
}

void agg_dap_helper_delete(agg_dap_answer *answer, agg_dap_party *party, agg_dap_served *task,
                           enum agg_dap_answer_kind kind, const uint8_t id[AGG_DAP_ID])
{
    agg_error error;
    agg_err err = agg_dap_begin(party->store, &error);
    if (err == SHOAL_OK) {
        err = agg_dap_answer_remove(party->store, &error, task->number, kind, id);
        if (err == SHOAL_OK) {
            err = agg_dap_commit(party->store, &error);
        } else {
            agg_dap_abandon(party->store);
        }
    }
    if (err != SHOAL_OK) {
        agg_dap_answer_failed(answer, &error);
    } else {
        agg_dap_answer_empty(answer, 204);
    }
}
