// SPDX-License-Identifier: Apache-2.0
// The leader's answers to clients and collectors; see dap_leader.h. Sections "Upload Request" and
// "Collection Job Initialization" of the draft.
#include "dap_leader.h"

#include <stdlib.h>
#include <string.h>

#include "agg_size.h"

#define ASK_AGAIN_S 1
#define ASK_LATER_S 60
#define DAY_S 86400u
#define UNOPENED_MAX 16 // shares of one request that do not open; honest requests have none

// ---- uploads ----

// One report of an upload request.
typedef struct upload {
    shoal_dap_report report;
    uint64_t bucket;
    uint32_t error; // enum shoal_dap_report_error
    bool is_new;    // its id was not known
} upload;

typedef struct uploads {
    upload *list;
    size_t n, cap, n_good;
} uploads;

// Returns: the error of a report, as far as the report itself shows it, or 0.
static uint32_t check_report(const agg_dap_party *party, const agg_dap_served *task,
                             const shoal_dap_report *report, uint64_t now_s)
{
    uint32_t late = agg_dap_check_time(task, report->metadata.time, now_s);
    if (report->metadata.extensions.len > 0) return SHOAL_DAP_INVALID_MESSAGE;
    if (agg_dap_key_of(&party->keys, report->leader.config_id) == NULL)
        return SHOAL_DAP_OUTDATED_CONFIG;
    if (!agg_dap_has_lengths(&task->vdaf, report->public_share, &report->leader,
                             SHOAL_DAP_LEADER) ||
        !agg_dap_has_lengths(&task->vdaf, report->public_share, &report->helper, SHOAL_DAP_HELPER))
        return SHOAL_DAP_INVALID_MESSAGE;
    return late == SHOAL_DAP_TASK_NOT_STARTED || late == SHOAL_DAP_TASK_EXPIRED
               ? SHOAL_DAP_REPORT_DROPPED
               : late;
}

static agg_err read_uploads(uploads *u, agg_error *error, const agg_dap_party *party,
                            const agg_dap_served *task, shoal_bytes body, uint64_t now_s)
{
    shoal_dap_reader r = {body.at, body.len, 0};
    agg_err err = body.len == 0 ? SHOAL_ERR_TRUNCATED : SHOAL_OK;
    while (err == SHOAL_OK && !shoal_dap_is_at_end(&r)) {
        if (u->n == AGG_DAP_UPLOADS_MAX) return SHOAL_ERR_OVERFLOW;
        err = agg_grow((void **)&u->list, &u->cap, u->n + 1, sizeof *u->list, error);
        if (err != SHOAL_OK) break;
        upload *one = &u->list[u->n];
        *one = (upload){0};
        err = task->vdaf.wire->read_report(&one->report, &r);
        if (err != SHOAL_OK) break;
        one->bucket = agg_dap_bucket_of(&task->vdaf, one->report.metadata.time);
        one->error = check_report(party, task, &one->report, now_s);
        u->n_good += one->error == 0;
        u->n++;
    }
    return err;
}

// Opens the leader's share of every good report, so that nothing is kept that nobody sealed to this
// server. After UNOPENED_MAX failures the request's other reports are dropped unopened: a request
// of junk must not keep a thread busy.
static agg_err open_all(uploads *u, agg_error *error, const agg_dap_party *party,
                        const agg_dap_served *task)
{
    agg_dap_work work;
    unsigned n_failed = 0;
    if (u->n_good == 0) return SHOAL_OK;
    agg_err err = agg_dap_work_init_opening(&work, error, &task->vdaf);
    if (err != SHOAL_OK) return err;
    for (size_t i = 0; i < u->n; i++) {
        upload *one = &u->list[i];
        if (one->error != 0) continue;
        one->error = n_failed >= UNOPENED_MAX
                         ? (uint32_t)SHOAL_DAP_REPORT_DROPPED
                         : agg_dap_leader_check(&work, &task->vdaf, &party->keys, &one->report);
        if (one->error == 0) continue;
        n_failed++;
        u->n_good--;
    }
    agg_dap_work_release(&work);
    return SHOAL_OK;
}

// Encodes a report as the store keeps it. Free body.at.
static agg_err encode_report(shoal_dap_writer *w, agg_error *error, const shoal_dap_report *report)
{
    *w = (shoal_dap_writer){NULL, 0, 0, 0};
    shoal_dap_put_report(w, report);
    agg_err err = agg_dap_writer_init(w, error, w->len);
    if (err == SHOAL_OK) shoal_dap_put_report(w, report);
    return err;
}

// Handles a report whose id is known. The same report is accepted again while it waits, because its
// sender may not have received the answer.
static agg_err check_known(upload *one, agg_dap_store *store, agg_error *error, int64_t task,
                           shoal_bytes body)
{
    agg_dap_pendings found = {0};
    agg_err err = agg_dap_report_find(store, &found, error, task, one->report.metadata.id);
    bool is_same = found.n == 1 && found.list[0].len == body.len &&
                   memcmp(found.list[0].body, body.at, body.len) == 0;
    if (err == SHOAL_OK && !is_same) one->error = SHOAL_DAP_REPORT_REPLAYED;
    agg_dap_pendings_release(&found);
    return err;
}

// Takes one report. Call between begin and commit.
static agg_err keep_one(upload *one, agg_dap_party *party, agg_error *error,
                        const agg_dap_served *task)
{
    bool is_known = false;
    const uint8_t *id = one->report.metadata.id;
    agg_err err = agg_dap_check_bucket(&one->error, party->store, error, task->number, one->bucket);
    if (err != SHOAL_OK || one->error != 0) return err;
    err = agg_dap_is_known(party->store, &is_known, error, task->number, id);
    if (err != SHOAL_OK) return err;
    shoal_dap_writer w;
    err = encode_report(&w, error, &one->report);
    if (err != SHOAL_OK) return err;
    const shoal_bytes body = {w.at, w.len};
    if (is_known) {
        err = check_known(one, party->store, error, task->number, body);
    } else {
        err = agg_dap_know(party->store, error, task->number, id, one->bucket);
        if (err == SHOAL_OK)
            err = agg_dap_report_add(party->store, error, task->number, id, one->bucket, body);
        one->is_new = true;
    }
    free(w.at);
    return err;
}

// Takes the reports in one transaction: all that can be taken are durable on return, or none is.
static agg_err keep_all(uploads *u, agg_error *error, agg_dap_party *party,
                        const agg_dap_served *task)
{
    if (u->n_good == 0) return SHOAL_OK;
    agg_err err = agg_dap_begin(party->store, error);
    if (err != SHOAL_OK) return err;
    for (size_t i = 0; err == SHOAL_OK && i < u->n; i++) {
        if (u->list[i].error == 0) err = keep_one(&u->list[i], party, error, task);
    }
    if (err == SHOAL_OK) return agg_dap_commit(party->store, error);
    agg_dap_abandon(party->store);
    return err;
}

static void put_errors(shoal_dap_writer *w, const uploads *u)
{
    for (size_t i = 0; i < u->n; i++) {
        if (u->list[i].error != 0)
            shoal_dap_put_upload_error(w, u->list[i].report.metadata.id,
                                       (enum shoal_dap_report_error)u->list[i].error);
    }
}

static void answer_uploads(agg_dap_answer *answer, const uploads *u, agg_dap_served *task)
{
    agg_error error;
    shoal_dap_writer w = {NULL, 0, 0, 0};
    for (size_t i = 0; i < u->n; i++) {
        if (u->list[i].is_new) atomic_fetch_add(&task->pending, 1);
        atomic_fetch_add(u->list[i].error == 0 ? &task->uploaded : &task->refused[u->list[i].error],
                         1);
    }
    put_errors(&w, u);
    if (w.len == 0) {
        agg_dap_answer_empty(answer, task->vdaf.wire->success);
    } else if (task->vdaf.wire->upload_problem != NULL) {
        agg_dap_answer_problem(answer, 400, AGG_DAP_OTHER_PROBLEM, "the report was refused");
        answer->problem_text =
            task->vdaf.wire->upload_problem((enum shoal_dap_report_error)u->list[0].error);
    } else if (agg_dap_writer_init(&w, &error, w.len) != SHOAL_OK) {
        agg_dap_answer_failed(answer, &error);
    } else {
        put_errors(&w, u);
        agg_dap_answer_body(answer, 200, SHOAL_DAP_UPLOAD_ERRORS, w.at, w.len);
    }
}

void agg_dap_leader_upload(agg_dap_answer *answer, agg_dap_party *party, agg_dap_served *task,
                           shoal_bytes body, uint64_t now_s)
{
    agg_error error;
    uploads u = {0};
    if (atomic_load(&task->pending) >= party->max_pending) {
        agg_dap_answer_problem(answer, 503, AGG_DAP_OTHER_PROBLEM,
                               "too many reports wait; send it again");
        answer->retry_after_s = ASK_LATER_S;
        return;
    }
    agg_err err = read_uploads(&u, &error, party, task, body, now_s);
    if (err == SHOAL_OK && task->vdaf.wire->upload_problem != NULL && u.n > 1)
        err = SHOAL_ERR_EXTRA;
    if (err == SHOAL_ERR_OVERFLOW) {
        agg_dap_answer_problem(answer, 413, AGG_DAP_OTHER_PROBLEM,
                               "an upload has too many reports: send fewer at once");
        free(u.list);
        return;
    }
    if (err != SHOAL_OK && err != AGG_ERR_MEMORY) {
        agg_dap_answer_problem(answer, 400, SHOAL_DAP_PROBLEM_INVALID_MESSAGE,
                               "the upload could not be read");
        free(u.list);
        return;
    }
    if (err == SHOAL_OK) err = open_all(&u, &error, party, task);
    if (err == SHOAL_OK) err = keep_all(&u, &error, party, task);
    if (err != SHOAL_OK) {
        agg_dap_answer_failed(answer, &error);
    } else {
        answer_uploads(answer, &u, task);
    }
    free(u.list);
}

// ---- collections ----

static const char *detail_of(uint32_t problem)
{
    switch (problem) {
    case SHOAL_DAP_PROBLEM_BATCH_OVERLAP: return "some of the batch was collected before";
    case SHOAL_DAP_PROBLEM_INVALID_BATCH_SIZE: return "fewer reports than the task's minimum batch";
    case SHOAL_DAP_PROBLEM_BATCH_MISMATCH:
        return "the two servers did not aggregate the same reports";
    default: return "the helper refused to give its share";
    }
}

// Answers with the state of a collection. Takes its answer over.
static void answer_state(agg_dap_answer *answer, agg_dap_collection *c, unsigned ready,
                         unsigned pending)
{
    if (c->state == AGG_DAP_FAILED) {
        agg_dap_answer_problem(answer, 400, (int)c->problem, detail_of(c->problem));
        return;
    }
    if (c->state == AGG_DAP_READY) {
        agg_dap_answer_body(answer, ready, SHOAL_DAP_COLLECTION_JOB_RESP, c->answer, c->answer_len);
        c->answer = NULL;
    } else {
        agg_dap_answer_empty(answer, pending);
        answer->retry_after_s = ASK_AGAIN_S;
    }
    agg_dap_answer_location(answer, SHOAL_DAP_COLLECTION_JOBS, c->id);
}

// Finds the collection of a request or makes it. Call between begin and commit.
static agg_err find_or_make(agg_dap_collection *c, bool *is_overlap, agg_error *error,
                            agg_dap_store *store, int64_t task, const shoal_dap_interval *query,
                            shoal_bytes body, const uint8_t hash[AGG_DAP_HASH])
{
    *is_overlap = false;
    agg_err err = agg_dap_collection_get(store, c, error, task, hash);
    if (err != SHOAL_OK) return err;
    if (c->request != NULL) { // a batch that was too small may be asked for again
        if (c->state != AGG_DAP_FAILED || c->problem != SHOAL_DAP_PROBLEM_INVALID_BATCH_SIZE)
            return SHOAL_OK;
        c->state = AGG_DAP_WAITING;
        return agg_dap_collection_set(store, error, task, c);
    }
    err = agg_dap_is_collected(store, is_overlap, error, task, *query);
    if (err != SHOAL_OK || *is_overlap) return err;
    *c = (agg_dap_collection){.state = AGG_DAP_WAITING, .query = *query};
    memcpy(c->id, hash, sizeof c->id);
    c->request = agg_alloc(error, body.len, 1);
    if (c->request == NULL) return AGG_ERR_MEMORY;
    memcpy(c->request, body.at, body.len);
    c->request_len = body.len;
    return agg_dap_collection_set(store, error, task, c);
}

// Returns: whether an interval ends more than a day from now. The current day may be asked for,
// whatever the unit of time; reports that come for it afterwards are lost.
static bool is_far_ahead(const agg_dap_served *task, const shoal_dap_interval *query,
                         uint64_t now_s)
{
    return query->start + query->duration > (now_s + DAY_S) / task->vdaf.task.time_precision_s + 1;
}

static agg_err read_request(shoal_dap_interval *query, agg_dap_answer *answer,
                            const agg_dap_served *task, shoal_bytes body, uint64_t now_s)
{
    shoal_dap_reader r = {body.at, body.len, 0};
    agg_err err = shoal_dap_read_collection_req(query, &r);
    if (err == SHOAL_OK && !shoal_dap_is_at_end(&r)) err = SHOAL_ERR_EXTRA;
    if (err != SHOAL_OK) {
        agg_dap_answer_problem(answer, 400, agg_dap_problem_of(err),
                               "the request could not be read");
        return err;
    }
    const char *why =
        !shoal_dap_interval_is_batch(query) ? "the query's interval is empty or endless"
        : is_far_ahead(task, query, now_s)  ? "the query's interval reaches into the future"
                                            : NULL;
    if (why == NULL) return SHOAL_OK;
    agg_dap_answer_problem(answer, 400, SHOAL_DAP_PROBLEM_BATCH_INVALID, why);
    return SHOAL_ERR_RANGE;
}

void agg_dap_leader_collect(agg_dap_answer *answer, agg_dap_party *party, agg_dap_served *task,
                            shoal_bytes body, uint64_t now_s)
{
    agg_error error;
    agg_dap_collection c = {0};
    shoal_dap_interval query;
    uint8_t hash[AGG_DAP_HASH];
    bool is_overlap = false;
    if (read_request(&query, answer, task, body, now_s) != SHOAL_OK) return;
    agg_dap_hash(hash, body);
    agg_err err = agg_dap_begin(party->store, &error);
    if (err == SHOAL_OK) {
        err = find_or_make(&c, &is_overlap, &error, party->store, task->number, &query, body, hash);
        if (err == SHOAL_OK) {
            err = agg_dap_commit(party->store, &error);
        } else {
            agg_dap_abandon(party->store);
        }
    }
    if (err != SHOAL_OK) {
        agg_dap_answer_failed(answer, &error);
    } else if (is_overlap) {
        agg_dap_answer_problem(answer, 400, SHOAL_DAP_PROBLEM_BATCH_OVERLAP,
                               detail_of(SHOAL_DAP_PROBLEM_BATCH_OVERLAP));
    } else {
        answer_state(answer, &c, 201, 201);
    }
    agg_dap_collection_release(&c);
}

static void answer_unknown(agg_dap_answer *answer)
{
    agg_dap_answer_problem(answer, 404, AGG_DAP_OTHER_PROBLEM,
                           "there is no collection job of this id");
}

void agg_dap_leader_get(agg_dap_answer *answer, agg_dap_party *party, agg_dap_served *task,
                        const uint8_t id[AGG_DAP_ID])
{
    agg_error error;
    agg_dap_collection c = {0};
    agg_err err = agg_dap_begin(party->store, &error);
    if (err == SHOAL_OK) {
        err = agg_dap_collection_get(party->store, &c, &error, task->number, id);
        agg_dap_abandon(party->store); // the transaction only read
    }
    if (err != SHOAL_OK) {
        agg_dap_answer_failed(answer, &error);
    } else if (c.request == NULL) {
        answer_unknown(answer);
    } else {
        answer_state(answer, &c, 200, 202);
    }
    agg_dap_collection_release(&c);
}

void agg_dap_leader_delete(agg_dap_answer *answer, agg_dap_party *party, agg_dap_served *task,
                           const uint8_t id[AGG_DAP_ID])
{
    agg_error error;
    agg_dap_collection c = {0};
    agg_err err = agg_dap_begin(party->store, &error);
    if (err == SHOAL_OK) {
        err = agg_dap_collection_get(party->store, &c, &error, task->number, id);
        if (err == SHOAL_OK && c.request != NULL && c.state != AGG_DAP_SENDING)
            err = agg_dap_collection_remove(party->store, &error, task->number, id);
        if (err == SHOAL_OK) {
            err = agg_dap_commit(party->store, &error);
        } else {
            agg_dap_abandon(party->store);
        }
    }
    if (err != SHOAL_OK) {
        agg_dap_answer_failed(answer, &error);
    } else if (c.request == NULL) {
        answer_unknown(answer);
    } else if (c.state == AGG_DAP_SENDING) {
        agg_dap_answer_problem(answer, 409, AGG_DAP_OTHER_PROBLEM,
                               "the helper is being asked for its share");
        answer->retry_after_s = ASK_AGAIN_S;
    } else {
        agg_dap_answer_empty(answer, 204);
    }
    agg_dap_collection_release(&c);
}
