// SPDX-License-Identifier: Apache-2.0
// The leader's collections; see dap_batch.h. Section "Obtaining Aggregate Shares" of the draft.
//
// The request for the helper's share is kept before it is sent. While its answer is not known no
// other report of the task is aggregated: the helper may have closed the batch already, or may
// still count the report.
#include "dap_batch.h"

#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "dap_noise.h"

// Marks a collection as failed. Call between begin and commit.
static agg_err set_failed(agg_dap_party *party, agg_error *error, const agg_dap_served *task,
                          agg_dap_collection *c, int problem)
{
    c->state = AGG_DAP_FAILED;
    c->problem = (uint32_t)problem;
    free(c->share_request);
    c->share_request = NULL;
    return agg_dap_collection_set(party->store, error, task->number, c);
}

static agg_err write_share_request(agg_dap_collection *c, agg_error *error,
                                   const agg_dap_batch *batch)
{
    shoal_dap_aggregate_share_req req = {.collection_req = {c->request, c->request_len},
                                         .query = c->query,
                                         .batch = c->query,
                                         .report_count = batch->n_reports};
    memcpy(req.checksum, batch->checksum, sizeof req.checksum);
    shoal_dap_writer w = {NULL, 0, 0, 0};
    shoal_dap_put_aggregate_share_req(&w, &req);
    agg_err err = agg_dap_writer_init(&w, error, w.len);
    if (err != SHOAL_OK) return err;
    shoal_dap_put_aggregate_share_req(&w, &req);
    c->share_request = w.at;
    c->share_request_len = w.len;
    return SHOAL_OK;
}

// Returns: whether an interval is over even by the slowest clock that is accepted.
static bool batch_is_over(const agg_dap_served *task, const shoal_dap_interval *interval,
                          uint64_t now_s)
{
    uint64_t last = interval->start + interval->duration;
    return now_s > AGG_DAP_LEEWAY_S &&
           last <= (now_s - AGG_DAP_LEEWAY_S) / task->vdaf.task.time_precision_s;
}

// Decides a collection whose reports are all aggregated: fails it, asks for the helper's share, or
// leaves it waiting. Call between begin and commit.
static agg_err advance(agg_dap_party *party, agg_error *error, const agg_dap_served *task,
                       agg_dap_collection *c, uint64_t now_s)
{
    bool is_collected = false;
    agg_dap_batch batch = {0};
    agg_err err = agg_dap_is_collected(party->store, &is_collected, error, task->number, c->query);
    if (err != SHOAL_OK) return err;
    if (is_collected) return set_failed(party, error, task, c, SHOAL_DAP_PROBLEM_BATCH_OVERLAP);
    err = agg_dap_batch_load(&batch, party->store, error, task, c->query);
    if (err != SHOAL_OK) return err;
    if (batch.n_reports > 0 && batch.n_reports >= task->vdaf.task.min_batch_size) {
        err = write_share_request(c, error, &batch);
        c->state = AGG_DAP_SENDING;
        if (err == SHOAL_OK) err = agg_dap_collection_set(party->store, error, task->number, c);
    } else if (batch_is_over(task, &c->query, now_s)) {
        err = set_failed(party, error, task, c, SHOAL_DAP_PROBLEM_INVALID_BATCH_SIZE);
    }
    agg_dap_batch_release(&batch);
    return err;
}

static agg_err write_answer(agg_dap_collection *c, agg_error *error, const agg_dap_party *party,
                            const agg_dap_served *task, const agg_dap_batch *batch,
                            const shoal_dap_ciphertext *helper)
{
    uint8_t enc[AGG_HPKE_ENC];
    size_t sealed_len = agg_dap_output_len(&task->vdaf) + SHOAL_DAP_SEAL;
    uint8_t *sealed = agg_alloc(error, sealed_len, 1);
    if (sealed == NULL) return AGG_ERR_MEMORY;
    agg_err err =
        agg_dap_seal_aggregate(enc, sealed, error, &task->vdaf, &party->collector, SHOAL_DAP_LEADER,
                               (shoal_bytes){c->request, c->request_len}, batch->share);
    const shoal_dap_collection_resp resp = {
        batch->n_reports,
        batch->interval,
        {party->collector.id, {enc, sizeof enc}, {sealed, sealed_len}},
        *helper};
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

// Gives the batch out, with this server's noise if the task has any. The noise is drawn once: what
// is answered is the kept answer. One transaction keeps it, closes the interval and removes late
// reports.
static agg_err finish(agg_dap_party *party, agg_error *error, agg_dap_served *task,
                      agg_dap_collection *c, const shoal_dap_ciphertext *helper)
{
    uint64_t n_late = 0;
    agg_dap_batch batch = {0};
    agg_err err = agg_dap_begin(party->store, error);
    if (err != SHOAL_OK) return err;
    err = agg_dap_batch_load(&batch, party->store, error, task, c->query);
    if (err == SHOAL_OK && batch.share == NULL)
        err = agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "task %s: a batch is gone", task->name);
    if (err == SHOAL_OK) err = agg_dap_noise_add(batch.share, error, &task->vdaf);
    if (err == SHOAL_OK) err = write_answer(c, error, party, task, &batch, helper);
    agg_dap_batch_release(&batch);
    c->state = AGG_DAP_READY;
    if (err == SHOAL_OK) err = agg_dap_collection_set(party->store, error, task->number, c);
    if (err == SHOAL_OK) err = agg_dap_batch_close(party->store, error, task->number, c->query);
    if (err == SHOAL_OK)
        err = agg_dap_report_remove_all(party->store, &n_late, error, task->number, c->query);
    err = agg_dap_end(party->store, error, err);
    if (err != SHOAL_OK) return err;
    atomic_fetch_add(&task->collected, 1);
    atomic_fetch_add(&task->refused[SHOAL_DAP_BATCH_COLLECTED], n_late);
    atomic_fetch_sub(&task->pending, (long long)n_late);
    return SHOAL_OK;
}

static agg_err fail_collection(agg_dap_party *party, agg_error *error, const agg_dap_served *task,
                               agg_dap_collection *c, int problem)
{
    agg_err err = agg_dap_begin(party->store, error);
    if (err != SHOAL_OK) return err;
    err = set_failed(party, error, task, c, problem);
    return agg_dap_end(party->store, error, err);
}

// Asks the helper for its share, and finishes or fails the collection.
static agg_err ask_share(agg_dap_party *party, agg_error *error, agg_dap_served *task,
                         const agg_dap_link *link, agg_dap_collection *c)
{
    agg_dap_reply reply = {0};
    shoal_dap_ciphertext helper;
    agg_err err = link->post(
        link->self, &reply, error, task, SHOAL_DAP_AGGREGATE_SHARES, SHOAL_DAP_AGGREGATE_SHARE_REQ,
        (shoal_bytes){c->share_request, c->share_request_len}, SHOAL_DAP_AGGREGATE_SHARE);
    if (err != SHOAL_OK) return err;
    shoal_dap_reader r = {reply.body, reply.len, 0};
    if (reply.status / 100 == 4 && reply.problem >= 0 &&
        reply.problem != SHOAL_DAP_PROBLEM_UNRECOGNIZED_TASK) {
        err = fail_collection(party, error, task, c, reply.problem);
    } else if (reply.status / 100 == 2 && reply.body != NULL &&
               shoal_dap_read_ciphertext(&helper, &r) == SHOAL_OK && shoal_dap_is_at_end(&r)) {
        err = finish(party, error, task, c, &helper);
    } else {
        err = agg_dap_reply_fail(error, task, &reply);
    }
    agg_dap_reply_release(&reply);
    return err;
}

agg_err agg_dap_batch_advance(bool *is_moved, agg_dap_party *party, agg_error *error,
                              const agg_dap_served *task, uint64_t now_s, bool is_forced)
{
    agg_dap_collection c = {0};
    uint8_t after[AGG_DAP_ID];
    uint64_t n_pending = 0;
    *is_moved = false;
    agg_err err = agg_dap_begin(party->store, error);
    if (err != SHOAL_OK) return err;
    for (const uint8_t *from = NULL; err == SHOAL_OK && !*is_moved; from = after) {
        agg_dap_collection_release(&c);
        err = agg_dap_collection_next(party->store, &c, error, task->number, AGG_DAP_WAITING, from);
        if (err != SHOAL_OK || c.request == NULL) break;
        memcpy(after, c.id, sizeof after);
        err = agg_dap_report_count(party->store, &n_pending, error, task->number, c.query, 1);
        if (is_forced && batch_is_over(task, &c.query, now_s)) n_pending = 0;
        if (err == SHOAL_OK && n_pending == 0) err = advance(party, error, task, &c, now_s);
        *is_moved = c.state != AGG_DAP_WAITING;
    }
    agg_dap_collection_release(&c);
    return agg_dap_end(party->store, error, err);
}

agg_err agg_dap_batch_resume(bool *is_under_way, agg_dap_party *party, agg_error *error,
                             agg_dap_served *task, const agg_dap_link *link)
{
    agg_dap_collection c = {0};
    agg_err err = agg_dap_begin(party->store, error);
    if (err != SHOAL_OK) return err;
    err = agg_dap_collection_next(party->store, &c, error, task->number, AGG_DAP_SENDING, NULL);
    agg_dap_abandon(party->store); // the transaction only read
    *is_under_way = c.request != NULL;
    if (err == SHOAL_OK && c.request != NULL) err = ask_share(party, error, task, link, &c);
    agg_dap_collection_release(&c);
    return err;
}

agg_err agg_dap_batch_is_awaited(bool *is_so, agg_dap_party *party, agg_error *error,
                                 const agg_dap_served *task, uint64_t now_s)
{
    agg_dap_collection c = {0};
    uint8_t after[AGG_DAP_ID];
    agg_err err = SHOAL_OK;
    *is_so = false;
    for (const uint8_t *from = NULL; err == SHOAL_OK && !*is_so; from = after) {
        err = agg_dap_collection_next(party->store, &c, error, task->number, AGG_DAP_WAITING, from);
        if (err != SHOAL_OK || c.request == NULL) break;
        *is_so = batch_is_over(task, &c.query, now_s);
        memcpy(after, c.id, sizeof after);
        agg_dap_collection_release(&c);
    }
    return err;
}
