// SPDX-License-Identifier: Apache-2.0
// Collecting; see dap_collect.h.
#include "dap_collect.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agg_size.h"
#include "bytes.h"
#include "dap_accumulator.h"
#include "dap_http.h"
#include "dap_noise.h"
#include "dap_vdaf.h"

#define REQUEST_MAX 64u  // bytes of a request: mode, interval, no parameter, no extensions
#define PAUSE_S 2u       // pause when the leader names none
#define PAUSE_MAX_S 300u // the longest pause, whatever the leader says
#define HEADS 1024u      // most bytes of an answer without the shares

// The state of one collection.
typedef struct collection {
    const agg_dap_collector *collector;
    agg_dap_vdaf vdaf;
    agg_http_client *client;
    uint8_t request[REQUEST_MAX];
    size_t request_len;
    char url[AGG_HTTP_LOCATION_MAX]; // the resource that creates the job, and then the job
    bool is_created;
    time_t end; // the last second to ask, on the monotonic clock
} collection;

static time_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

// Fills `error` for a refusal. Too few reports and a batch that was given out before are refused
// for privacy; an unnamed trouble of the server may pass.
static agg_err refused(agg_error *error, const agg_http_response *answer)
{
    char text[AGG_HTTP_PROBLEM_MAX];
    int problem;
    agg_http_problem(text, &problem, answer);
    if (problem == SHOAL_DAP_PROBLEM_INVALID_BATCH_SIZE)
        return agg_fail(error, AGG_ERR_COHORT, AGG_EXIT_PRIVACY,
                        "the batch has fewer reports than the task's minimum (%s)", text);
    if (problem == SHOAL_DAP_PROBLEM_BATCH_OVERLAP)
        return agg_fail(error, AGG_ERR_COHORT, AGG_EXIT_PRIVACY,
                        "a part of this interval was collected before, with another one; each "
                        "report is given out once (%s)",
                        text);
    if (problem < 0 && answer->status >= 500)
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "the leader reports a problem: %s", text);
    return agg_fail(error, SHOAL_ERR_RECORD, AGG_EXIT_RUNTIME, "the leader refuses: %s", text);
}

// Returns: the most bytes of an answer with both shares.
static size_t answer_max(const agg_dap_vdaf *vdaf)
{
    return 2 * (agg_dap_output_len(vdaf) + AGG_HPKE_TAG) + HEADS;
}

// Makes one request.
//   is_ready: whether the answer is the batch
//   pause_s: otherwise seconds after which to ask again
// Returns: an error that ends the collection. A refusal that may pass only leaves it not ready.
static agg_err ask(agg_http_response *answer, bool *is_ready, uint32_t *pause_s, agg_error *error,
                   collection *c)
{
    const agg_http_request request = {
        .client = c->client,
        .method = c->is_created ? "GET" : "POST",
        .url = c->url,
        .content_type = c->is_created ? NULL : shoal_dap_media_type(SHOAL_DAP_COLLECTION_JOB_REQ),
        .body = {c->request, c->is_created ? 0 : c->request_len},
        .bearer = c->collector->token,
        .max_body = answer_max(&c->vdaf),
    };
    agg_err err = agg_http_fetch(answer, error, &request);
    *is_ready = false;
    *pause_s = PAUSE_S;
    if (err != SHOAL_OK) return err;
    if (answer->retry_after_s > 0) *pause_s = answer->retry_after_s;
    if (answer->status >= 300)
        err = refused(error, answer);
    else if (answer->body_len == 0 && !c->is_created && answer->location[0] == '\0')
        err = agg_fail(error, SHOAL_ERR_RECORD, AGG_EXIT_RUNTIME,
                       "the leader accepted the request but did not say where the batch will be");
    else if (answer->body_len > 0 &&
             !agg_http_is_media(answer, shoal_dap_media_type(SHOAL_DAP_COLLECTION_JOB_RESP)))
        err = agg_fail(error, SHOAL_ERR_RECORD, AGG_EXIT_RUNTIME,
                       "the leader's answer is not a batch");
    if (err == SHOAL_OK) {
        *is_ready = answer->body_len > 0;
        if (!c->is_created && answer->location[0] != '\0') {
            memcpy(c->url, answer->location, sizeof c->url);
            c->is_created = true;
        }
    }
    if (err != SHOAL_OK || !*is_ready) agg_http_response_release(answer);
    return err;
}

static void pause_for(const collection *c, uint32_t seconds)
{
    struct timespec left = {.tv_sec = (time_t)seconds, .tv_nsec = 0};
    if (c->collector->waits != NULL) c->collector->waits(c->collector->context, seconds);
    while (nanosleep(&left, &left) != 0) continue;
}

// Asks until the batch is ready. Both requests may be repeated: the leader recognizes them.
static agg_err ask_until_ready(agg_http_response *answer, agg_error *error, collection *c)
{
    for (;;) {
        bool is_ready;
        uint32_t pause_s;
        agg_err err = ask(answer, &is_ready, &pause_s, error, c);
        if (is_ready || (err != SHOAL_OK && err != AGG_ERR_IO)) return err;
        const time_t left = c->end - now();
        if (left <= 0 && err != SHOAL_OK) return err;
        if (left <= 0)
            return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO,
                            "the batch is not ready: reports are still being added up, or there "
                            "are too few; ask again later");
        if (pause_s > PAUSE_MAX_S) pause_s = PAUSE_MAX_S;
        pause_for(c, left < (time_t)pause_s ? (uint32_t)left : pause_s);
    }
}

// Opens one server's share.
//   share: agg_dap_output_len bytes
static agg_err open_share(uint8_t *share, agg_error *error, const collection *c,
                          enum shoal_dap_role from, const shoal_dap_ciphertext *ciphertext,
                          shoal_bytes aad)
{
    const char *who = from == SHOAL_DAP_LEADER ? "leader" : "helper";
    uint8_t info[SHOAL_DAP_INFO_MAX];
    const size_t info_len = shoal_dap_aggregate_share_info(info, &c->collector->task->task, from);
    if (ciphertext->config_id != c->collector->key->id)
        return agg_fail(error, SHOAL_ERR_CHECKSUM, AGG_EXIT_RUNTIME,
                        "the %s's share is sealed to key %u, and --key is key %u", who,
                        ciphertext->config_id, c->collector->key->id);
    if (ciphertext->payload.len != agg_dap_output_len(&c->vdaf) + SHOAL_DAP_SEAL)
        return agg_fail(error, SHOAL_ERR_RECORD, AGG_EXIT_RUNTIME,
                        "the %s's share does not have the task's length", who);
    if (shoal_dap_open(share, agg_hpke(), c->collector->key->secret_key, ciphertext,
                       (shoal_bytes){info, info_len}, aad) == SHOAL_OK)
        return SHOAL_OK;
    return agg_fail(error, SHOAL_ERR_CHECKSUM, AGG_EXIT_RUNTIME,
                    "the %s's share does not open: it was sealed to another key, or for another "
                    "task, interval or minimum",
                    who);
}

// Adds two shares.
// Returns: whether they add up to sums that so many reports can have.
static bool unshard(uint64_t *sums, const agg_dap_vdaf *vdaf, const shoal_prio3_bytes both[2],
                    uint64_t n, uint64_t *scratch)
{
    const size_t n_sums = vdaf->prio3.flp.output_len;
    if (vdaf->task.noise.kind == SHOAL_DAP_NOISE_NONE)
        return shoal_prio3_unshard(sums, &vdaf->prio3, both, scratch) == SHOAL_OK &&
               agg_dap_are_sums_of(&vdaf->task.vdaf, sums, n_sums, n);
    int64_t *integers = (int64_t *)sums; // the signed type of the same object
    return shoal_prio3_unshard_centred(integers, &vdaf->prio3, both, scratch) == SHOAL_OK &&
           agg_dap_noise_is_possible(&vdaf->task, integers, n_sums, n);
}

// Opens both shares and adds them.
static agg_err add_shares(uint64_t *sums, agg_error *error, const collection *c,
                          const shoal_dap_collection_resp *resp)
{
    const shoal_bytes request = {c->request, c->request_len};
    const size_t len = agg_dap_output_len(&c->vdaf);
    shoal_dap_writer aad = {NULL, 0, 0, 0};
    shoal_dap_put_aggregate_share_aad(&aad, &c->collector->task->task, request);
    const size_t aad_len = aad.len;
    uint8_t *bytes = agg_alloc(error, aad_len, 1), *leader = agg_alloc(error, len, 1),
            *helper = agg_alloc(error, len, 1);
    uint64_t *scratch =
        agg_alloc(error, shoal_prio3_scratch_words(&c->vdaf.prio3), sizeof *scratch);
    agg_err err = bytes == NULL || leader == NULL || helper == NULL || scratch == NULL
                      ? AGG_ERR_MEMORY
                      : SHOAL_OK;
    if (err == SHOAL_OK) {
        aad = (shoal_dap_writer){bytes, aad_len, 0, 0};
        shoal_dap_put_aggregate_share_aad(&aad, &c->collector->task->task, request);
        err = open_share(leader, error, c, SHOAL_DAP_LEADER, &resp->leader,
                         (shoal_bytes){bytes, aad_len});
    }
    if (err == SHOAL_OK)
        err = open_share(helper, error, c, SHOAL_DAP_HELPER, &resp->helper,
                         (shoal_bytes){bytes, aad_len});
    if (err == SHOAL_OK) {
        const shoal_prio3_bytes both[2] = {{leader, len}, {helper, len}};
        if (!unshard(sums, &c->vdaf, both, resp->report_count, scratch))
            err = agg_fail(
                error, SHOAL_ERR_RECORD, AGG_EXIT_RUNTIME,
                "the two shares do not add up to sums of %llu reports: they are not of one batch",
                (unsigned long long)resp->report_count);
    }
    if (leader != NULL) wipe(leader, len);
    if (helper != NULL) wipe(helper, len);
    free(bytes);
    free(leader);
    free(helper);
    free(scratch);
    return err;
}

static agg_err read_answer(agg_dap_collected *collected, agg_error *error, const collection *c,
                           const agg_http_response *answer)
{
    const shoal_dap_task *task = &c->collector->task->task;
    shoal_dap_collection_resp resp;
    if (shoal_dap_read_collection_resp(&resp, (shoal_bytes){answer->body, answer->body_len}) !=
        SHOAL_OK)
        return agg_fail(error, SHOAL_ERR_RECORD, AGG_EXIT_RUNTIME,
                        "the leader's batch is not a CollectionJobResp");
    if (!shoal_dap_interval_is_within(&resp.interval, &c->collector->query))
        return agg_fail(error, SHOAL_ERR_RECORD, AGG_EXIT_RUNTIME,
                        "the leader's batch covers another interval than was asked for");
    if (resp.report_count < task->min_batch_size)
        return agg_fail(error, AGG_ERR_COHORT, AGG_EXIT_PRIVACY,
                        "the batch has %llu reports, below the task's minimum of %llu",
                        (unsigned long long)resp.report_count,
                        (unsigned long long)task->min_batch_size);
    const size_t n_sums = c->vdaf.prio3.flp.output_len;
    uint64_t *sums = agg_alloc(error, n_sums, sizeof *sums);
    if (sums == NULL) return AGG_ERR_MEMORY;
    agg_err err = add_shares(sums, error, c, &resp);
    if (err != SHOAL_OK) {
        free(sums);
        return err;
    }
    *collected = (agg_dap_collected){resp.report_count, resp.interval, sums, n_sums};
    return SHOAL_OK;
}

static const uint8_t no_seed[32] = {0}; // the collector verifies nothing

agg_err agg_dap_collect_memory(uint64_t *bytes, agg_error *error, const agg_dap_task *task)
{
    agg_dap_vdaf vdaf;
    agg_err err = agg_dap_vdaf_init(&vdaf, error, &task->task, no_seed);
    if (err != SHOAL_OK) return err;
    uint64_t shares = answer_max(&vdaf) + 2 * (uint64_t)agg_dap_output_len(&vdaf);
    uint64_t words = (uint64_t)shoal_prio3_scratch_words(&vdaf.prio3) + vdaf.prio3.flp.output_len;
    *bytes = AGG_HTTP_BYTES + shares + words * sizeof(uint64_t);
    return SHOAL_OK;
}

agg_err agg_dap_collect(agg_dap_collected *collected, agg_error *error,
                        const agg_dap_collector *collector)
{
    const shoal_dap_task *task = &collector->task->task;
    collection c = {.collector = collector, .end = now() + (time_t)collector->wait_s};
    agg_err err = agg_dap_vdaf_init(&c.vdaf, error, task, no_seed);
    if (err != SHOAL_OK) return err;
    shoal_dap_writer w = {c.request, sizeof c.request, 0, 0};
    shoal_dap_put_collection_req(&w, &collector->query);
    c.request_len = w.len;
    char url[SHOAL_DAP_URL_MAX];
    shoal_dap_url(url, collector->leader != NULL ? collector->leader : &task->leader,
                  SHOAL_DAP_COLLECTION_JOBS, task->id, NULL, 0);
    memcpy(c.url, url, sizeof url);
    c.client = agg_http_client_new();
    agg_http_response answer;
    err = ask_until_ready(&answer, error, &c);
    if (err == SHOAL_OK) {
        err = read_answer(collected, error, &c, &answer);
        agg_http_response_release(&answer);
    }
    agg_http_client_free(c.client);
    return err;
}

void agg_dap_collected_release(agg_dap_collected *collected)
{
    free(collected->sums);
    *collected = (agg_dap_collected){0};
}
