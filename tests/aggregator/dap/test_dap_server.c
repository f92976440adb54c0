// SPDX-License-Identifier: Apache-2.0
// Leader and helper in one process, over a link that loses, repeats and changes messages: the sums
// are exact whatever happens to the messages, a report counts once, a batch is given out once, and
// each refusal is the draft's.
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "dap_driver.h"
#include "dap_helper.h"
#include "dap_leader.h"
#include "rng.h"

enum { HOUR = 3600, MINIMUM = 5, LENGTH = 4, REPORT_MAX = 2048, BODY_MAX = 64 * REPORT_MAX };
#define NOW ((uint64_t)500000 * HOUR + 1000)
#define UNIT ((uint64_t)499990) // of most reports: their hour is over

// What the link does with messages.
typedef struct bench_link {
    int is_down;        // no message arrives
    int loses_answers;  // so many answers are lost, of messages that the helper acted on
    int swaps_answers;  // so many answers of jobs have their first two responses exchanged
    int too_large_from; // reports of a job from which the helper takes none; 0: any number
    unsigned n_jobs, n_shares;
    uint8_t *last_job; // the last request of a job, to compare
    size_t last_job_len;
    int n_changed; // jobs that came again otherwise
    int n_removed; // jobs that the leader gave up and said so
} bench_link;

typedef struct bench {
    char folder[64];
    shoal_dap_task task;
    agg_dap_party leader, helper;
    agg_hpke_key collector; // with its secret
    bench_link link;
    uint8_t next_id;
    uint64_t now_s;
} bench;

static void must(agg_err err, const agg_error *error)
{
    if (err != SHOAL_OK) fail_msg("%s", error->text);
}

static void set_url(shoal_url *url, const char *text)
{
    const char *why;
    assert_int_equal(shoal_url_set(url, text, strlen(text), &why), SHOAL_OK);
}

static void open_party(bench *b, agg_dap_party *party)
{
    static const uint8_t seed[32] = {42};
    char path[96];
    agg_error error;
    snprintf(path, sizeof path, "%s/%s", b->folder,
             party->role == SHOAL_DAP_LEADER ? "leader" : "helper");
    must(agg_dap_store_open(&party->store, &error, path), &error);
    party->tasks = calloc(1, sizeof *party->tasks);
    party->n_tasks = 1;
    must(agg_dap_serve_task(party, &party->tasks[0], &error, &b->task, seed), &error);
}

static void close_party(agg_dap_party *party)
{
    agg_dap_store_close(party->store);
    free(party->tasks);
    party->store = NULL;
    party->tasks = NULL;
}

// As after a crash: what is not in the store is gone.
static void restart(bench *b, agg_dap_party *party)
{
    close_party(party);
    open_party(b, party);
}

static void init_party(bench *b, agg_dap_party *party, enum shoal_dap_role role, uint8_t key_id)
{
    agg_error error;
    *party = (agg_dap_party){.role = role,
                             .n_threads = 2,
                             .keep_s = 20 * HOUR,
                             .max_pending = 20,
                             .job_reports = 4,
                             .job_len = 1 << 20,
                             .collector = b->collector};
    party->keys.n = 1;
    must(agg_hpke_key_new(&party->keys.list[0], &error, key_id), &error);
    open_party(b, party);
}

static int set_up(void **state)
{
    agg_error error;
    bench *b = calloc(1, sizeof *b);
    snprintf(b->folder, sizeof b->folder, "%s/shoal-dap-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(b->folder));
    b->now_s = NOW;
    b->task = (shoal_dap_task){.id = {7},
                               .version = SHOAL_DAP_18,
                               .info_len = 4,
                               .info = "test",
                               .time_precision_s = HOUR,
                               .min_batch_size = MINIMUM,
                               .interval = {UNIT - 10, 1000},
                               .vdaf = {SHOAL_CIRCUIT_HISTOGRAM, LENGTH, 0, 2, 2, 1}};
    set_url(&b->task.leader, "https://leader.example/dap");
    set_url(&b->task.helper, "https://helper.example/dap");
    must(agg_hpke_key_new(&b->collector, &error, 9), &error);
    init_party(b, &b->leader, SHOAL_DAP_LEADER, 1);
    init_party(b, &b->helper, SHOAL_DAP_HELPER, 2);
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    bench *b = *state;
    char command[96];
    close_party(&b->leader);
    close_party(&b->helper);
    snprintf(command, sizeof command, "rm -rf '%s'", b->folder);
    assert_int_equal(system(command), 0);
    free(b->link.last_job);
    free(b);
    return 0;
}

// ---- devices ----

enum flaw {
    HONEST,
    BAD_PROOF,
    BAD_SHARE,
    BAD_LEADER_SEAL,
    BAD_HELPER_SEAL,
    OTHER_MINIMUM,
    OLD_KEY,
    EXTENSION,
    NOT_CANONICAL
};

static void seal(uint8_t *out, shoal_dap_ciphertext *c, uint8_t *enc, bench *b,
                 const shoal_dap_task *task, enum shoal_dap_role to, const shoal_dap_report *report,
                 shoal_bytes share)
{
    const agg_hpke_key *key =
        to == SHOAL_DAP_LEADER ? &b->leader.keys.list[0] : &b->helper.keys.list[0];
    uint8_t info[SHOAL_DAP_INFO_MAX], aad[2048], plaintext[REPORT_MAX];
    size_t info_len = shoal_dap_input_share_info(info, task, to);
    shoal_dap_writer a = {aad, sizeof aad, 0, 0}, p = {plaintext, sizeof plaintext, 0, 0};
    shoal_dap_put_input_share_aad(&a, task, &report->metadata, report->public_share);
    shoal_dap_put_input_share(&p, share);
    assert_int_equal(agg_hpke()->seal(NULL, enc, out, key->public_key,
                                      (shoal_bytes){info, info_len}, (shoal_bytes){aad, a.len},
                                      (shoal_bytes){plaintext, p.len}),
                     SHOAL_OK);
    *c = (shoal_dap_ciphertext){key->id, {enc, 32}, {out, p.len + SHOAL_DAP_SEAL}};
}

// Appends a report of a bucket of the histogram, with an id of its own.
static void put_report(shoal_dap_writer *w, bench *b, uint64_t bucket, uint64_t time,
                       enum flaw flaw)
{
    static const uint8_t rng_seed[32] = {3}, extension[4] = {0, 1, 0, 0};
    shoal_prio3 prio3;
    shoal_rng rng;
    uint8_t rand[256], public_share[64], shares[2][REPORT_MAX], sealed[2][REPORT_MAX], enc[2][32];
    uint8_t *const input_shares[2] = {shares[0], shares[1]};
    shoal_dap_task task = b->task;
    shoal_dap_report report = {.metadata = {.id = {b->next_id++}, .time = time}};
    if (flaw == OTHER_MINIMUM) task.min_batch_size++;
    if (flaw == EXTENSION) report.metadata.extensions = (shoal_bytes){extension, sizeof extension};
    assert_int_equal(shoal_prio3_init(&prio3, &task.vdaf), SHOAL_OK);
    uint64_t *scratch = calloc(shoal_prio3_scratch_words(&prio3), sizeof *scratch);
    uint8_t context[SHOAL_DAP_CONTEXT_MAX];
    size_t context_len = shoal_dap_context(context, &task);
    assert_true(shoal_prio3_rand_len(&prio3) <= sizeof rand &&
                shoal_prio3_input_share_len(&prio3, 0) < REPORT_MAX);
    shoal_rng_init_stream(&rng, rng_seed, report.metadata.id[0]);
    shoal_rng_bytes(&rng, rand, shoal_prio3_rand_len(&prio3));
    assert_int_equal(shoal_prio3_shard(public_share, input_shares, &prio3,
                                       (shoal_bytes){context, context_len}, &bucket,
                                       report.metadata.id, rand, scratch),
                     SHOAL_OK);
    free(scratch);
    if (flaw == BAD_PROOF) shares[0][LENGTH * 16] ^= 1; // the first byte behind the measurement
    if (flaw == BAD_SHARE) shares[0][0] ^= 1;
    if (flaw == NOT_CANONICAL) memset(shares[0] + 16, 0xff, 16); // not below the field's modulus
    report.public_share = (shoal_bytes){public_share, shoal_prio3_public_share_len(&prio3)};
    seal(sealed[0], &report.leader, enc[0], b, &task, SHOAL_DAP_LEADER, &report,
         (shoal_bytes){shares[0], shoal_prio3_input_share_len(&prio3, 0)});
    seal(sealed[1], &report.helper, enc[1], b, &task, SHOAL_DAP_HELPER, &report,
         (shoal_bytes){shares[1], shoal_prio3_input_share_len(&prio3, 1)});
    if (flaw == BAD_LEADER_SEAL) sealed[0][5] ^= 1;
    if (flaw == BAD_HELPER_SEAL) sealed[1][5] ^= 1;
    if (flaw == OLD_KEY) report.leader.config_id = 77;
    shoal_dap_put_report(w, &report);
    assert_false(w->is_full);
}

// Uploads, and expects as many errors as are given. Returns: the number of the last one's error, 0
// for none.
static uint32_t upload(bench *b, shoal_bytes body, unsigned n_errors)
{
    agg_dap_answer answer = {.problem = AGG_DAP_NO_PROBLEM};
    uint8_t id[SHOAL_DAP_REPORT_ID];
    uint32_t error = 0;
    unsigned n = 0;
    agg_dap_leader_upload(&answer, &b->leader, &b->leader.tasks[0], body, b->now_s);
    assert_int_equal(answer.status, 200);
    if (n_errors > 0) assert_int_equal(answer.message, SHOAL_DAP_UPLOAD_ERRORS);
    shoal_dap_reader r = {answer.body, answer.len, 0};
    for (; !shoal_dap_is_at_end(&r); n++)
        assert_int_equal(shoal_dap_read_upload_error(id, &error, &r), SHOAL_OK);
    assert_int_equal(n, n_errors);
    agg_dap_answer_release(&answer);
    return error;
}

static uint32_t upload_one(bench *b, uint64_t bucket, uint64_t time, enum flaw flaw,
                           unsigned n_errors)
{
    uint8_t body[REPORT_MAX];
    shoal_dap_writer w = {body, sizeof body, 0, 0};
    put_report(&w, b, bucket, time, flaw);
    return upload(b, (shoal_bytes){body, w.len}, n_errors);
}

// Uploads honest reports: 1 of bucket 0, 2 of bucket 1, 3 of bucket 2.
static void upload_six(bench *b, uint64_t time)
{
    static uint8_t body[BODY_MAX];
    shoal_dap_writer w = {body, sizeof body, 0, 0};
    for (uint64_t bucket = 0; bucket < 3; bucket++) {
        for (uint64_t i = 0; i <= bucket; i++) put_report(&w, b, bucket, time, HONEST);
    }
    assert_int_equal(upload(b, (shoal_bytes){body, w.len}, 0), 0);
}

// ---- the link ----

static void watch_job(bench_link *link, shoal_bytes body)
{
    if (link->last_job != NULL &&
        (link->last_job_len != body.len || memcmp(link->last_job, body.at, body.len) != 0))
        link->n_changed++;
    free(link->last_job);
    link->last_job = malloc(body.len);
    memcpy(link->last_job, body.at, body.len);
    link->last_job_len = body.len;
    link->n_jobs++;
}

static unsigned reports_of(shoal_bytes job)
{
    uint8_t key_id;
    unsigned n = 0;
    shoal_dap_reader r = {job.at, job.len, 0};
    shoal_dap_verify_init init;
    assert_int_equal(shoal_dap_read_job_head(&key_id, &r), SHOAL_OK);
    for (; !shoal_dap_is_at_end(&r); n++)
        assert_int_equal(shoal_dap_read_verify_init(&init, &r), SHOAL_OK);
    return n;
}

// Exchanges the first two responses of a job's answer.
static void swap_responses(agg_dap_reply *reply)
{
    shoal_dap_verify_resp resp;
    shoal_dap_reader r = {reply->body, reply->len, 0};
    assert_int_equal(shoal_dap_read_verify_resp(&resp, &r), SHOAL_OK);
    size_t first = r.position;
    assert_int_equal(shoal_dap_read_verify_resp(&resp, &r), SHOAL_OK);
    size_t second = r.position - first;
    uint8_t copy[512];
    assert_true(first + second <= sizeof copy);
    memcpy(copy, reply->body, first + second);
    memcpy(reply->body, copy + first, second);
    memcpy(reply->body + second, copy, first);
}

static agg_err post(void *self, agg_dap_reply *reply, agg_error *error, const agg_dap_served *task,
                    enum shoal_dap_resource resource, enum shoal_dap_message message,
                    shoal_bytes body, enum shoal_dap_message wanted)
{
    bench *b = self;
    agg_dap_answer answer = {.problem = AGG_DAP_NO_PROBLEM};
    assert_memory_equal(task->vdaf.task.id, b->task.id, SHOAL_DAP_TASK_ID);
    if (b->link.is_down) return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "the link is down");
    if (resource == SHOAL_DAP_AGGREGATION_JOBS) {
        assert_int_equal(message, SHOAL_DAP_AGGREGATION_JOB_INIT_REQ);
        watch_job(&b->link, body);
        if (b->link.too_large_from > 0 && reports_of(body) >= (unsigned)b->link.too_large_from) {
            *reply = (agg_dap_reply){.status = 413, .problem = AGG_DAP_OTHER_PROBLEM};
            return SHOAL_OK;
        }
        agg_dap_helper_aggregate(&answer, &b->helper, &b->helper.tasks[0], body, b->now_s);
    } else {
        assert_int_equal(message, SHOAL_DAP_AGGREGATE_SHARE_REQ);
        b->link.n_shares++;
        agg_dap_helper_share(&answer, &b->helper, &b->helper.tasks[0], body, b->now_s);
    }
    if (answer.body != NULL) assert_int_equal(answer.message, wanted);
    *reply = (agg_dap_reply){answer.status, answer.problem, answer.body, answer.len, NULL};
    if (answer.has_location) reply->location = strdup("where");
    if (b->link.loses_answers > 0) {
        b->link.loses_answers--;
        free(reply->body);
        free(reply->location);
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "the answer is lost");
    }
    if (resource == SHOAL_DAP_AGGREGATION_JOBS && b->link.swaps_answers > 0) {
        b->link.swaps_answers--;
        swap_responses(reply);
    }
    return SHOAL_OK;
}

static void remove_resource(void *self, const char *location)
{
    bench *b = self;
    assert_string_equal(location, "where");
    b->link.n_removed++;
}

// One turn of the driver.
static agg_err turn_as(bench *b, bool *is_more, bool is_eager)
{
    agg_error error;
    const agg_dap_link link = {b, post, remove_resource};
    return agg_dap_leader_turn(is_more, &error, &b->leader, &b->leader.tasks[0], &link, b->now_s,
                               is_eager);
}

static agg_err turn(bench *b, bool *is_more)
{
    return turn_as(b, is_more, true);
}

// Drives until nothing is left to do, trying again after failures. Returns: how many there were.
static unsigned drive(bench *b)
{
    unsigned n_failures = 0;
    bool is_more = true;
    for (int i = 0; is_more && i < 200; i++) {
        if (turn(b, &is_more) == SHOAL_OK) continue;
        n_failures++;
        is_more = true;
        assert_true(i < 199);
    }
    return n_failures;
}

// ---- the collector ----

static size_t query_bytes(uint8_t out[64], uint64_t start, uint64_t duration)
{
    shoal_dap_writer w = {out, 64, 0, 0};
    shoal_dap_put_collection_req(&w, &(shoal_dap_interval){start, duration});
    return w.len;
}

// Asks for a batch. The answer is the caller's to release.
static void ask(agg_dap_answer *answer, bench *b, uint64_t start, uint64_t duration)
{
    uint8_t query[64];
    size_t len = query_bytes(query, start, duration);
    *answer = (agg_dap_answer){.problem = AGG_DAP_NO_PROBLEM};
    agg_dap_leader_collect(answer, &b->leader, &b->leader.tasks[0], (shoal_bytes){query, len},
                           b->now_s);
}

static void open_aggregate(uint8_t *out, bench *b, enum shoal_dap_role from, shoal_bytes query,
                           const shoal_dap_ciphertext *c)
{
    uint8_t info[SHOAL_DAP_INFO_MAX], aad[2048];
    size_t info_len = shoal_dap_aggregate_share_info(info, &b->task, from);
    shoal_dap_writer a = {aad, sizeof aad, 0, 0};
    shoal_dap_put_aggregate_share_aad(&a, &b->task, query);
    assert_int_equal(c->config_id, b->collector.id);
    assert_int_equal(c->payload.len, LENGTH * 16 + SHOAL_DAP_SEAL);
    assert_int_equal(shoal_dap_open(out, agg_hpke(), b->collector.secret_key, c,
                                    (shoal_bytes){info, info_len}, (shoal_bytes){aad, a.len}),
                     SHOAL_OK);
}

// Opens what a collection gave. Returns: the number of reports.
static uint64_t open_collection(uint64_t sums[LENGTH], shoal_dap_interval *interval, bench *b,
                                uint64_t start, uint64_t duration, const agg_dap_answer *answer)
{
    uint8_t query[64], shares[2][LENGTH * 16];
    shoal_dap_collection_resp resp;
    shoal_prio3 prio3;
    size_t len = query_bytes(query, start, duration);
    assert_int_equal(answer->problem, AGG_DAP_NO_PROBLEM);
    assert_int_equal(answer->message, SHOAL_DAP_COLLECTION_JOB_RESP);
    assert_int_equal(
        shoal_dap_read_collection_resp(&resp, (shoal_bytes){answer->body, answer->len}), SHOAL_OK);
    open_aggregate(shares[0], b, SHOAL_DAP_LEADER, (shoal_bytes){query, len}, &resp.leader);
    open_aggregate(shares[1], b, SHOAL_DAP_HELPER, (shoal_bytes){query, len}, &resp.helper);
    assert_int_equal(shoal_prio3_init(&prio3, &b->task.vdaf), SHOAL_OK);
    uint64_t *scratch = calloc(shoal_prio3_scratch_words(&prio3), sizeof *scratch);
    const shoal_bytes both[2] = {{shares[0], sizeof shares[0]}, {shares[1], sizeof shares[1]}};
    assert_int_equal(shoal_prio3_unshard(sums, &prio3, both, scratch), SHOAL_OK);
    free(scratch);
    *interval = resp.interval;
    return resp.report_count;
}

// Collects and expects these sums.
static void expect(bench *b, uint64_t start, uint64_t duration, const uint64_t sums[LENGTH])
{
    agg_dap_answer answer;
    uint64_t got[LENGTH], n = 0;
    shoal_dap_interval interval;
    ask(&answer, b, start, duration);
    assert_int_equal(answer.problem, AGG_DAP_NO_PROBLEM);
    agg_dap_answer_release(&answer);
    drive(b);
    ask(&answer, b, start, duration);
    for (size_t i = 0; i < LENGTH; i++) n += sums[i];
    assert_int_equal(open_collection(got, &interval, b, start, duration, &answer), n);
    assert_memory_equal(got, sums, sizeof got);
    agg_dap_answer_release(&answer);
}

// Collects and expects a problem.
static void expect_problem(bench *b, uint64_t start, uint64_t duration, int problem)
{
    agg_dap_answer answer;
    ask(&answer, b, start, duration);
    if (answer.problem == AGG_DAP_NO_PROBLEM) {
        agg_dap_leader_get(&answer, &b->leader, &b->leader.tasks[0], answer.id);
        assert_int_equal(answer.status, 202);
        uint8_t query[64];
        uint8_t hash[AGG_DAP_HASH];
        agg_dap_hash(hash, (shoal_bytes){query, query_bytes(query, start, duration)});
        drive(b);
        agg_dap_leader_get(&answer, &b->leader, &b->leader.tasks[0], hash);
    }
    assert_int_equal(answer.status, 400);
    assert_int_equal(answer.problem, problem);
    agg_dap_answer_release(&answer);
}

static uint64_t refused(const agg_dap_party *party, uint32_t error)
{
    return atomic_load(&party->tasks[0].refused[error]);
}

// ---- tests ----

static const uint64_t six[LENGTH] = {1, 2, 3, 0}, twelve[LENGTH] = {2, 4, 6, 0};

static void test_sums_are_exact(void **state)
{
    bench *b = *state;
    agg_dap_answer first, again;
    uint64_t sums[LENGTH];
    shoal_dap_interval interval;
    upload_six(b, UNIT);
    upload_six(b, UNIT + 2);
    upload_six(b, UNIT + 3); // outside of the query
    assert_int_equal(drive(b), 0);
    expect(b, UNIT - 3, 6, twelve);
    ask(&first, b, UNIT - 3, 6);
    assert_int_equal(first.status, 201);
    assert_int_equal(open_collection(sums, &interval, b, UNIT - 3, 6, &first), 12);
    assert_true(interval.start == UNIT &&
                interval.duration == 3); // of the reports, not the query's
    again = (agg_dap_answer){.problem = AGG_DAP_NO_PROBLEM};
    agg_dap_leader_get(&again, &b->leader, &b->leader.tasks[0], first.id);
    assert_int_equal(again.status, 200);
    assert_int_equal(again.len, first.len);
    assert_memory_equal(again.body, first.body, first.len);
    assert_int_equal(b->link.n_shares, 1);
    agg_dap_answer_release(&first);
    agg_dap_answer_release(&again);
    expect(b, UNIT + 3, 1, six);
}

// Each server draws its noise once a batch: a lost answer, a restart of both and a second question
// bring the same bytes, and nobody can average noise away by asking.
static void test_noise_is_drawn_once(void **state)
{
    bench *b = *state;
    agg_dap_answer answer, first, again;
    const shoal_dap_noise noise = {SHOAL_DAP_NOISE_LAPLACE, 1000}; // epsilon 0.001: sd 2,828 each
    b->task.noise = noise;
    b->task.id[0]++; // as the id of a task file with noise
    restart(b, &b->leader);
    restart(b, &b->helper);
    upload_six(b, UNIT);
    upload_six(b, UNIT + 2);
    assert_int_equal(drive(b), 0);
    ask(&answer, b, UNIT, 3);
    agg_dap_answer_release(&answer);
    b->link.loses_answers = 1; // the helper gave its share out, and the leader did not hear it
    bool is_more;
    assert_int_equal(turn(b, &is_more), SHOAL_OK); // decides to ask
    assert_int_equal(turn(b, &is_more), AGG_ERR_IO);
    restart(b, &b->helper);
    restart(b, &b->leader);
    drive(b);
    assert_int_equal(b->link.n_shares, 2);
    ask(&first, b, UNIT, 3);
    assert_int_equal(first.problem, AGG_DAP_NO_PROBLEM);
    assert_true(first.len > 0);
    restart(b, &b->leader);
    ask(&again, b, UNIT, 3);
    assert_int_equal(again.len, first.len);
    assert_memory_equal(again.body, first.body, first.len);
    uint8_t query[64], shares[2][LENGTH * 16];
    int64_t sums[LENGTH];
    shoal_dap_collection_resp resp;
    shoal_prio3 prio3;
    const shoal_bytes asked = {query, query_bytes(query, UNIT, 3)};
    assert_int_equal(shoal_dap_read_collection_resp(&resp, (shoal_bytes){first.body, first.len}),
                     SHOAL_OK);
    assert_int_equal(resp.report_count, 12); // the number of reports stays exact
    open_aggregate(shares[0], b, SHOAL_DAP_LEADER, asked, &resp.leader);
    open_aggregate(shares[1], b, SHOAL_DAP_HELPER, asked, &resp.helper);
    assert_int_equal(shoal_prio3_init(&prio3, &b->task.vdaf), SHOAL_OK);
    uint64_t *scratch = calloc(shoal_prio3_scratch_words(&prio3), sizeof *scratch);
    const shoal_bytes both[2] = {{shares[0], sizeof shares[0]}, {shares[1], sizeof shares[1]}};
    assert_int_equal(shoal_prio3_unshard_centred(sums, &prio3, both, scratch), SHOAL_OK);
    // The sum of two draws of scale 2000 is within 20 with probability 41/8000: all four entries
    // once in 10^9 runs.
    bool is_exact = true;
    for (size_t i = 0; i < LENGTH; i++) is_exact = is_exact && llabs(sums[i]) < 20;
    assert_false(is_exact);
    free(scratch);
    agg_dap_answer_release(&first);
    agg_dap_answer_release(&again);
}

// A store that served a task without noise, or with other noise, does not serve it with this one.
static void test_noise_never_changes(void **state)
{
    bench *b = *state;
    agg_dap_served served = {.number = 0};
    agg_error error;
    static const uint8_t seed[32] = {42}; // as open_party
    shoal_dap_task task = b->task;
    assert_int_equal(agg_dap_serve_task(&b->leader, &served, &error, &task, seed), SHOAL_OK);
    task.noise = (shoal_dap_noise){SHOAL_DAP_NOISE_LAPLACE, 1000000};
    assert_int_equal(agg_dap_serve_task(&b->leader, &served, &error, &task, seed),
                     SHOAL_ERR_RECIPE_HASH);
}

static void test_a_batch_is_given_out_once(void **state)
{
    bench *b = *state;
    upload_six(b, UNIT);
    upload_six(b, UNIT + 1);
    expect(b, UNIT, 1, six);
    agg_dap_answer answer;
    ask(&answer, b, UNIT - 1, 2);
    assert_int_equal(answer.problem, SHOAL_DAP_PROBLEM_BATCH_OVERLAP); // at once
    agg_dap_answer_release(&answer);
    expect_problem(b, UNIT, 2, SHOAL_DAP_PROBLEM_BATCH_OVERLAP);
    restart(b, &b->leader);
    restart(b, &b->helper);
    expect_problem(b, 0, NOW / HOUR, SHOAL_DAP_PROBLEM_BATCH_OVERLAP);
    expect(b, UNIT + 1, 1, six);
    // Late reports are refused by the leader, and would be by the helper.
    assert_int_equal(upload_one(b, 0, UNIT, HONEST, 1), SHOAL_DAP_BATCH_COLLECTED);
    expect_problem(b, UNIT, 0, SHOAL_DAP_PROBLEM_BATCH_INVALID);
    expect_problem(b, UNIT, UINT64_MAX, SHOAL_DAP_PROBLEM_BATCH_INVALID);
}

// Two overlapping questions wait: the first that is answered closes the batch for the other.
static void test_two_wait_for_one_batch(void **state)
{
    bench *b = *state;
    agg_dap_answer answers[2];
    upload_six(b, UNIT);
    ask(&answers[0], b, UNIT, 1);
    ask(&answers[1], b, UNIT - 1, 3);
    drive(b);
    unsigned n_ready = 0, n_overlap = 0;
    for (int i = 0; i < 2; i++) {
        agg_dap_leader_get(&answers[i], &b->leader, &b->leader.tasks[0], answers[i].id);
        n_ready += answers[i].status == 200;
        n_overlap += answers[i].problem == SHOAL_DAP_PROBLEM_BATCH_OVERLAP;
        agg_dap_answer_release(&answers[i]);
    }
    assert_int_equal(n_ready, 1);
    assert_int_equal(n_overlap, 1);
}

static void test_replays(void **state)
{
    bench *b = *state;
    uint8_t body[REPORT_MAX], twice[2 * REPORT_MAX];
    shoal_dap_writer w = {body, sizeof body, 0, 0};
    put_report(&w, b, 1, UNIT, HONEST);
    const shoal_bytes one = {body, w.len};
    assert_int_equal(upload(b, one, 0), 0);
    assert_int_equal(upload(b, one, 0), 0); // still waiting: its sender may not have heard
    upload_six(b, UNIT);
    memcpy(twice, body, w.len);
    memcpy(twice + w.len, body, w.len);
    drive(b);
    assert_int_equal(upload(b, one, 1), SHOAL_DAP_REPORT_REPLAYED);
    assert_int_equal(upload(b, (shoal_bytes){twice, 2 * w.len}, 2), SHOAL_DAP_REPORT_REPLAYED);
    b->next_id = 0; // the same id over another measurement
    assert_int_equal(upload_one(b, 3, UNIT, HONEST, 1), SHOAL_DAP_REPORT_REPLAYED);
    b->next_id = 100;
    expect(b, UNIT, 1, (const uint64_t[]){1, 3, 3, 0});
}

// A leader that lost or hides what it knows: the helper remembers.
static void test_helper_remembers(void **state)
{
    bench *b = *state;
    char command[128];
    upload_six(b, UNIT);
    drive(b);
    close_party(&b->leader);
    snprintf(command, sizeof command, "rm -rf '%s/leader'", b->folder);
    assert_int_equal(system(command), 0);
    open_party(b, &b->leader);
    b->next_id = 0;
    b->leader.job_reports = 5; // another job
    upload_six(b, UNIT);
    drive(b);
    assert_int_equal(refused(&b->helper, SHOAL_DAP_REPORT_REPLAYED), 6);
    assert_int_equal(refused(&b->leader, SHOAL_DAP_REPORT_REPLAYED), 6);
    // Now the two count differently, and the leader has nothing to give.
    expect_problem(b, UNIT, 1, SHOAL_DAP_PROBLEM_INVALID_BATCH_SIZE);
    upload_six(b, UNIT);
    expect_problem(b, UNIT, 1, SHOAL_DAP_PROBLEM_BATCH_MISMATCH);
}

static void test_minimum(void **state)
{
    bench *b = *state;
    static const uint64_t five[LENGTH] = {5, 0, 0, 0};
    for (int i = 0; i < MINIMUM - 1; i++) upload_one(b, 0, UNIT, HONEST, 0);
    drive(b);
    expect_problem(b, UNIT, 1, SHOAL_DAP_PROBLEM_INVALID_BATCH_SIZE);
    assert_int_equal(b->link.n_shares, 0); // the helper was not even asked
    // One more comes, and the same question is asked again.
    upload_one(b, 0, UNIT, HONEST, 0);
    expect(b, UNIT, 1, five);
}

// A leader that asks for too little gets nothing from the helper.
static void test_helper_keeps_the_minimum(void **state)
{
    bench *b = *state;
    for (int i = 0; i < MINIMUM - 1; i++) upload_one(b, 0, UNIT, HONEST, 0);
    drive(b);
    b->leader.tasks[0].vdaf.task.min_batch_size = 1;
    expect_problem(b, UNIT, 1, SHOAL_DAP_PROBLEM_INVALID_BATCH_SIZE);
    assert_int_equal(b->link.n_shares, 1);
    assert_int_equal(atomic_load(&b->helper.tasks[0].collected), 0);
}

// An interval that is not over waits for more.
static void test_waits_for_more(void **state)
{
    bench *b = *state;
    agg_dap_answer answer;
    const uint64_t now = NOW / HOUR;
    for (int i = 0; i < MINIMUM - 1; i++) upload_one(b, 1, now, HONEST, 0);
    ask(&answer, b, now, 1);
    assert_int_equal(answer.status, 201);
    assert_true(answer.has_location && answer.len == 0 && answer.retry_after_s > 0);
    drive(b);
    agg_dap_leader_get(&answer, &b->leader, &b->leader.tasks[0], answer.id);
    assert_int_equal(answer.status, 202);
    agg_dap_answer_release(&answer);
    upload_one(b, 1, now, HONEST, 0);
    expect(b, now, 1, (const uint64_t[]){0, 5, 0, 0});
}

static void test_messages_are_lost(void **state)
{
    bench *b = *state;
    agg_dap_answer answer;
    upload_six(b, UNIT);
    b->leader.job_reports = 6;
    b->link.is_down = 1;
    bool is_more;
    for (int i = 0; i < 3; i++) assert_int_equal(turn(b, &is_more), AGG_ERR_IO);
    assert_int_equal(atomic_load(&b->leader.tasks[0].is_failing), 1);
    restart(b, &b->leader);
    b->link.is_down = 0;
    b->link.loses_answers = 2; // the helper acts, and the leader does not hear
    assert_int_equal(turn(b, &is_more), AGG_ERR_IO);
    restart(b, &b->leader);
    restart(b, &b->helper);
    assert_int_equal(drive(b), 1);
    assert_int_equal(b->link.n_jobs, 3);
    assert_int_equal(b->link.n_changed, 0); // the same bytes each time
    assert_int_equal(atomic_load(&b->leader.tasks[0].is_failing), 0);
    // The same with the share of the batch.
    ask(&answer, b, UNIT, 1);
    agg_dap_answer_release(&answer);
    b->link.loses_answers = 1;
    assert_int_equal(turn(b, &is_more), SHOAL_OK); // decides
    assert_int_equal(turn(b, &is_more), AGG_ERR_IO);
    uint8_t query[64], hash[AGG_DAP_HASH];
    agg_dap_hash(hash, (shoal_bytes){query, query_bytes(query, UNIT, 1)});
    agg_dap_leader_delete(&answer, &b->leader, &b->leader.tasks[0], hash);
    assert_int_equal(answer.status, 409); // the helper may have given its share
    agg_dap_answer_release(&answer);
    upload_one(b, 3, UNIT, HONEST, 0); // comes while the helper's answer is not known
    restart(b, &b->leader);
    restart(b, &b->helper);
    expect(b, UNIT, 1, six);
    assert_int_equal(b->link.n_jobs, 3); // the late one was never sent
    assert_int_equal(refused(&b->leader, SHOAL_DAP_BATCH_COLLECTED), 1);
}

// Reports wait for a full job, unless somebody waits for them.
static void test_when_a_job_is_due(void **state)
{
    bench *b = *state;
    agg_dap_answer answer;
    bool is_more;
    b->leader.job_reports = 4;
    for (int i = 0; i < 3; i++) upload_one(b, 0, UNIT, HONEST, 0);
    assert_int_equal(turn_as(b, &is_more, false), SHOAL_OK);
    assert_int_equal(b->link.n_jobs, 0);
    upload_one(b, 0, UNIT, HONEST, 0);
    assert_int_equal(turn_as(b, &is_more, false), SHOAL_OK);
    assert_int_equal(b->link.n_jobs, 1);
    upload_one(b, 0, UNIT, HONEST, 0);
    ask(&answer, b, NOW / HOUR, 1); // an hour to which more will come
    agg_dap_answer_release(&answer);
    assert_int_equal(turn_as(b, &is_more, false), SHOAL_OK);
    assert_int_equal(b->link.n_jobs, 1);
    ask(&answer, b, UNIT, 1);
    agg_dap_answer_release(&answer);
    assert_int_equal(turn_as(b, &is_more, false), SHOAL_OK);
    assert_int_equal(b->link.n_jobs, 2);
    expect(b, UNIT, 1, (const uint64_t[]){5, 0, 0, 0});
}

static void test_answers_of_another_job(void **state)
{
    bench *b = *state;
    upload_six(b, UNIT);
    b->leader.job_reports = 6;
    b->link.swaps_answers = 2; // then the right one
    assert_int_equal(drive(b), 2);
    assert_int_equal(b->link.n_changed, 0);
    upload_six(b, UNIT + 5);
    b->link.swaps_answers = 3; // the job is abandoned
    assert_int_equal(drive(b), 3);
    assert_int_equal(refused(&b->leader, SHOAL_DAP_REPORT_DROPPED), 6);
    assert_int_equal(b->link.n_removed, 1);
    assert_int_equal(atomic_load(&b->leader.tasks[0].pending), 0);
    expect(b, UNIT, 1, six);
    expect_problem(b, UNIT + 5, 1, SHOAL_DAP_PROBLEM_INVALID_BATCH_SIZE);
}

static void test_jobs_that_are_too_large(void **state)
{
    bench *b = *state;
    upload_six(b, UNIT);
    b->leader.job_reports = 6;
    b->link.too_large_from = 3;
    assert_int_equal(drive(b), 0);
    expect(b, UNIT, 1, six);
}

static void test_hostile_reports(void **state)
{
    static const enum flaw flaws[] = {BAD_PROOF, BAD_SHARE, BAD_HELPER_SEAL};
    bench *b = *state;
    // Among honest ones, in one job.
    upload_one(b, 0, UNIT, HONEST, 0);
    for (size_t i = 0; i < sizeof flaws / sizeof *flaws; i++)
        assert_int_equal(upload_one(b, 3, UNIT, flaws[i], 0), 0);
    for (int i = 0; i < 2; i++) upload_one(b, 1, UNIT, HONEST, 0);
    for (int i = 0; i < 3; i++) upload_one(b, 2, UNIT, HONEST, 0);
    b->leader.job_reports = 20;
    assert_int_equal(upload_one(b, 3, UNIT, OLD_KEY, 1), SHOAL_DAP_OUTDATED_CONFIG);
    assert_int_equal(upload_one(b, 3, UNIT, EXTENSION, 1), SHOAL_DAP_INVALID_MESSAGE);
    assert_int_equal(upload_one(b, 3, UNIT, NOT_CANONICAL, 1), SHOAL_DAP_INVALID_MESSAGE);
    for (int i = 0; i < 2; i++)
        assert_int_equal(upload_one(b, 3, UNIT, i == 0 ? BAD_LEADER_SEAL : OTHER_MINIMUM, 1),
                         SHOAL_DAP_HPKE_DECRYPT_ERROR);
    assert_int_equal(drive(b), 0);
    // Two that the leader could not open itself, and one of the helper's.
    assert_int_equal(refused(&b->leader, SHOAL_DAP_HPKE_DECRYPT_ERROR), 3);
    assert_int_equal(refused(&b->helper, SHOAL_DAP_HPKE_DECRYPT_ERROR), 1);
    assert_int_equal(refused(&b->helper, SHOAL_DAP_VDAF_VERIFY_ERROR), 2);
    assert_int_equal(refused(&b->leader, SHOAL_DAP_VDAF_VERIFY_ERROR), 2);
    expect(b, UNIT, 1, six);
}

static agg_dap_counts rows(bench *b)
{
    agg_error error;
    agg_dap_counts counts = {0};
    must(agg_dap_begin(b->leader.store, &error), &error);
    must(agg_dap_count(b->leader.store, &counts, &error, b->leader.tasks[0].number), &error);
    agg_dap_abandon(b->leader.store);
    return counts;
}

// Junk is refused before it is kept: neither the queue nor the table of ids has a row of it, so an
// honest report of the same id still counts.
static void test_junk_is_not_kept(void **state)
{
    enum { JUNK = 40, OPENED = 16 };
    static uint8_t body[64 * REPORT_MAX];
    bench *b = *state;
    shoal_dap_writer w = {body, sizeof body, 0, 0};
    b->leader.max_pending = 8;
    for (int i = 0; i < JUNK; i++) put_report(&w, b, 3, UNIT, BAD_LEADER_SEAL);
    // After the first 16 the others are dropped unopened.
    assert_int_equal(upload(b, (shoal_bytes){body, w.len}, JUNK), SHOAL_DAP_REPORT_DROPPED);
    assert_int_equal(refused(&b->leader, SHOAL_DAP_HPKE_DECRYPT_ERROR), OPENED);
    assert_int_equal(refused(&b->leader, SHOAL_DAP_REPORT_DROPPED), JUNK - OPENED);
    assert_int_equal(rows(b).pending, 0);
    b->next_id = 0; // the ids of the junk
    upload_six(b, UNIT);
    assert_int_equal(rows(b).pending, 6);
    assert_int_equal(drive(b), 0);
    expect(b, UNIT, 1, six);
}

static void test_times(void **state)
{
    bench *b = *state;
    const uint64_t now = NOW / HOUR;
    assert_int_equal(upload_one(b, 0, now, HONEST, 0), 0);
    assert_int_equal(upload_one(b, 0, now + 1, HONEST, 1), SHOAL_DAP_REPORT_TOO_EARLY);
    assert_int_equal(upload_one(b, 0, UINT64_MAX, HONEST, 1), SHOAL_DAP_REPORT_TOO_EARLY);
    b->now_s = (now + 1) * HOUR - AGG_DAP_LEEWAY_S - 1;
    assert_int_equal(upload_one(b, 0, now + 1, HONEST, 1), SHOAL_DAP_REPORT_TOO_EARLY);
    b->now_s++;
    assert_int_equal(upload_one(b, 0, now + 1, HONEST, 0), 0); // within the leeway
    assert_int_equal(upload_one(b, 0, UNIT - 11, HONEST, 1), SHOAL_DAP_REPORT_DROPPED);
    assert_int_equal(upload_one(b, 0, UNIT - 10, HONEST, 0), 0);
    b->now_s = (UNIT + 2000) * HOUR;
    assert_int_equal(upload_one(b, 0, UNIT + 989, HONEST, 0), 0);
    assert_int_equal(upload_one(b, 0, UNIT + 990, HONEST, 1), SHOAL_DAP_REPORT_DROPPED);
}

// What is older than the servers keep ids for is refused, so that forgetting an id never lets it in
// again.
static void test_forgetting(void **state)
{
    bench *b = *state;
    agg_error error;
    uint8_t body[REPORT_MAX];
    shoal_dap_writer w = {body, sizeof body, 0, 0};
    put_report(&w, b, 3, UNIT, HONEST);
    assert_int_equal(upload(b, (shoal_bytes){body, w.len}, 0), 0);
    upload_six(b, UNIT);
    drive(b);
    b->now_s = (UNIT + 20) * HOUR; // the last moment at which the hour is kept
    must(agg_dap_forget_old(&b->leader, &error, b->now_s), &error);
    must(agg_dap_forget_old(&b->helper, &error, b->now_s), &error);
    assert_int_equal(upload(b, (shoal_bytes){body, w.len}, 1), SHOAL_DAP_REPORT_REPLAYED);
    b->now_s += HOUR;
    must(agg_dap_forget_old(&b->leader, &error, b->now_s), &error);
    must(agg_dap_forget_old(&b->helper, &error, b->now_s), &error);
    assert_int_equal(upload(b, (shoal_bytes){body, w.len}, 1), SHOAL_DAP_REPORT_DROPPED);
    restart(b, &b->leader);
    assert_int_equal(upload(b, (shoal_bytes){body, w.len}, 1), SHOAL_DAP_REPORT_DROPPED);
    expect(b, UNIT, 1, (const uint64_t[]){1, 2, 3, 1}); // sums are kept
}

// The problem that the helper answers a job with.
static int job_problem(bench *b, shoal_bytes body)
{
    agg_dap_answer answer = {.problem = AGG_DAP_NO_PROBLEM};
    agg_dap_helper_aggregate(&answer, &b->helper, &b->helper.tasks[0], body, b->now_s);
    int problem = answer.problem;
    agg_dap_answer_release(&answer);
    return problem;
}

static int share_problem(bench *b, shoal_bytes body)
{
    agg_dap_answer answer = {.problem = AGG_DAP_NO_PROBLEM};
    agg_dap_helper_share(&answer, &b->helper, &b->helper.tasks[0], body, b->now_s);
    int problem = answer.problem;
    agg_dap_answer_release(&answer);
    return problem;
}

static void test_malformed_jobs(void **state)
{
    bench *b = *state;
    static uint8_t job[BODY_MAX];
    bool is_more;
    upload_six(b, UNIT);
    b->leader.job_reports = 2;
    b->link.loses_answers = 1;
    assert_int_equal(turn(b, &is_more), AGG_ERR_IO);
    size_t len = b->link.last_job_len, head = 7, one = (len - head) / 2;
    memcpy(job, b->link.last_job, len);
    // Cut anywhere but behind the first report: a job of one report is one, of none is none.
    for (size_t n = 0; n < len; n++) {
        if (n != head + one)
            assert_int_equal(job_problem(b, (shoal_bytes){job, n}),
                             SHOAL_DAP_PROBLEM_INVALID_MESSAGE);
    }
    memcpy(job + head + one, job + head, one); // the same report twice
    assert_int_equal(job_problem(b, (shoal_bytes){job, len}), SHOAL_DAP_PROBLEM_INVALID_MESSAGE);
    job[0] = 1; // another verification key
    assert_int_equal(job_problem(b, (shoal_bytes){job, head + one}),
                     SHOAL_DAP_PROBLEM_INVALID_MESSAGE);
    const uint8_t parameter[] = {0, 0, 0, 0, 1, 9, 0, 0},
                  extension[] = {0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0};
    assert_int_equal(job_problem(b, (shoal_bytes){parameter, sizeof parameter}),
                     SHOAL_DAP_PROBLEM_INVALID_AGGREGATION_PARAMETER);
    assert_int_equal(job_problem(b, (shoal_bytes){extension, sizeof extension}),
                     SHOAL_DAP_PROBLEM_UNSUPPORTED_EXTENSION);
    drive(b);
    expect(b, UNIT, 1, six);
}

// Requests for a share that do not fit what the helper aggregated.
static void test_hostile_share_requests(void **state)
{
    bench *b = *state;
    uint8_t query[64], body[256];
    upload_six(b, UNIT);
    drive(b);
    shoal_dap_aggregate_share_req good = {.collection_req = {query, query_bytes(query, UNIT, 2)},
                                          .batch = {UNIT, 1},
                                          .report_count = 6};
    for (uint8_t i = 0; i < 6; i++) { // as the draft has it: exclusive or of the ids' digests
        uint8_t id[SHOAL_DAP_REPORT_ID] = {i}, digest[32];
        agg_dap_hash(digest, (shoal_bytes){id, sizeof id});
        for (size_t k = 0; k < sizeof digest; k++) good.checksum[k] ^= digest[k];
    }
    struct {
        int problem;
        shoal_dap_aggregate_share_req req;
    } cases[] = {
        {SHOAL_DAP_PROBLEM_BATCH_MISMATCH, good},
        {SHOAL_DAP_PROBLEM_BATCH_MISMATCH, good},
        {SHOAL_DAP_PROBLEM_BATCH_INVALID, good},
        {SHOAL_DAP_PROBLEM_BATCH_INVALID, good},
        {SHOAL_DAP_PROBLEM_INVALID_BATCH_SIZE, good},
        {AGG_DAP_NO_PROBLEM, good},
        {AGG_DAP_NO_PROBLEM, good},
        {SHOAL_DAP_PROBLEM_BATCH_OVERLAP, good},
    };
    cases[0].req.report_count = 7;
    cases[1].req.checksum[31] ^= 1;
    cases[2].req.batch = (shoal_dap_interval){UNIT - 1, 2}; // begins before the query
    cases[3].req.batch = (shoal_dap_interval){UNIT, 3};     // ends behind it
    cases[4].req.batch = (shoal_dap_interval){UNIT + 1, 1}; // has no report
    cases[7].req.batch = (shoal_dap_interval){UNIT, 2};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        shoal_dap_writer w = {body, sizeof body, 0, 0};
        shoal_dap_put_aggregate_share_req(&w, &cases[i].req);
        assert_int_equal(share_problem(b, (shoal_bytes){body, w.len}), cases[i].problem);
        for (size_t n = 0; n < w.len; n++)
            assert_int_equal(share_problem(b, (shoal_bytes){body, n}),
                             SHOAL_DAP_PROBLEM_INVALID_MESSAGE);
    }
    assert_int_equal(atomic_load(&b->helper.tasks[0].collected),
                     2); // the second was the first's answer again
}

// A leader that passes on what it should have refused: a report with an extension.
static void test_helper_refuses_extensions(void **state)
{
    bench *b = *state;
    uint8_t body[REPORT_MAX], job[2 * REPORT_MAX], payload[1024], zeros[1024] = {0};
    shoal_dap_writer w = {body, sizeof body, 0, 0}, j = {job, sizeof job, 0, 0},
                     p = {payload, sizeof payload, 0, 0};
    put_report(&w, b, 1, UNIT, EXTENSION);
    shoal_dap_reader r = {body, w.len, 0};
    shoal_dap_report report;
    assert_int_equal(shoal_dap_read_report(&report, &r), SHOAL_OK);
    size_t len = shoal_prio3_verifier_share_len(&b->helper.tasks[0].vdaf.prio3);
    assert_true(len <= sizeof zeros);
    shoal_dap_put_initialize(&p, (shoal_bytes){zeros, len});
    shoal_dap_put_job_head(&j, 0);
    shoal_dap_put_verify_init(
        &j, &(shoal_dap_verify_init){
                report.metadata, report.public_share, report.helper, {payload, p.len}});
    assert_false(w.is_full || j.is_full || p.is_full);
    assert_int_equal(job_problem(b, (shoal_bytes){job, j.len}), AGG_DAP_NO_PROBLEM);
    assert_int_equal(refused(&b->helper, SHOAL_DAP_INVALID_MESSAGE), 1);
}

static void test_too_many_wait(void **state)
{
    bench *b = *state;
    agg_dap_answer answer = {.problem = AGG_DAP_NO_PROBLEM};
    uint8_t body[REPORT_MAX];
    shoal_dap_writer w = {body, sizeof body, 0, 0};
    for (int i = 0; i < 3; i++) upload_six(b, UNIT + 1);
    upload_six(b, UNIT); // 24 now: a whole request is taken or none of it
    put_report(&w, b, 1, UNIT, HONEST);
    agg_dap_leader_upload(&answer, &b->leader, &b->leader.tasks[0], (shoal_bytes){body, w.len},
                          b->now_s);
    assert_int_equal(answer.status, 503);
    assert_true(answer.retry_after_s > 0);
    agg_dap_answer_release(&answer);
    restart(b, &b->leader);
    assert_int_equal(atomic_load(&b->leader.tasks[0].pending), 24);
    drive(b);
    assert_int_equal(atomic_load(&b->leader.tasks[0].pending), 0);
    assert_int_equal(upload(b, (shoal_bytes){body, w.len}, 0), 0);
    expect(b, UNIT, 1, (const uint64_t[]){1, 3, 3, 0});
}

// The helper is away for longer than reports are kept: those of the job that is under way stay
// until it answers.
// Lets no file grow beyond some bytes; RLIM_INFINITY: as far as it may.
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes == RLIM_INFINITY ? limit.rlim_max : bytes;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static rlim_t log_size(const bench *b)
{
    char path[128];
    struct stat status;
    snprintf(path, sizeof path, "%s/leader/dap.db-wal", b->folder);
    return stat(path, &status) == 0 ? (rlim_t)status.st_size : 0;
}

// The disk is full at every place of an upload: it is answered 503 and takes no place in the queue
// and no id, so the same upload is taken once there is room.
static void test_a_full_disk_keeps_no_place(void **state)
{
    enum { TRIES = 8, FRAME = 4120 };
    bench *b = *state;
    unsigned n_full = 0, n_taken = 0;
    b->leader.max_pending = 2 * TRIES;
    for (rlim_t i = 0; i < TRIES; i++) {
        uint8_t body[REPORT_MAX];
        shoal_dap_writer w = {body, sizeof body, 0, 0};
        agg_dap_answer answer = {.problem = AGG_DAP_NO_PROBLEM};
        put_report(&w, b, 1, UNIT, HONEST);
        const shoal_bytes bytes = {body, w.len};
        limit_files(i == 0 ? 0 : log_size(b) + i * FRAME - 1);
        agg_dap_leader_upload(&answer, &b->leader, &b->leader.tasks[0], bytes, b->now_s);
        limit_files(RLIM_INFINITY);
        n_full += answer.status == 503;
        assert_true(answer.status == 503 || answer.status == 200);
        assert_int_equal(rows(b).pending, n_taken + (answer.status == 200));
        agg_dap_answer_release(&answer);
        assert_int_equal(upload(b, bytes, 0), 0); // not a replay
        n_taken++;
        assert_int_equal(rows(b).pending, n_taken);
        assert_int_equal(atomic_load(&b->leader.tasks[0].pending), n_taken);
    }
    assert_true(n_full >= 2 && n_full < TRIES); // some were cut in the middle, some fitted
    const uint64_t sums[LENGTH] = {0, TRIES, 0, 0};
    // Neither a job nor its end is lost when it cannot be kept.
    for (int i = 0; i < 6; i++) {
        bool is_more;
        limit_files(i < 3 ? 0 : log_size(b) + (rlim_t)(i - 2) * FRAME - 1);
        (void)!turn(b, &is_more);
        limit_files(RLIM_INFINITY);
    }
    drive(b);
    assert_int_equal(atomic_load(&b->leader.tasks[0].pending), 0);
    assert_int_equal(rows(b).pending, 0);
    expect(b, UNIT, 1, sums);
}

// A job that the helper answers wrongly is given up only once that is kept.
static void test_a_full_disk_gives_no_job_up(void **state)
{
    bench *b = *state;
    bool is_more;
    b->leader.job_reports = 6;
    upload_six(b, UNIT);
    b->link.swaps_answers = 20;
    for (int i = 0; i < 6; i++) {
        (void)!turn(b, &is_more);
        if (i >= 1) limit_files(0); // the job is kept, and nothing else is
    }
    limit_files(RLIM_INFINITY);
    assert_int_equal(rows(b).pending, 6);
    assert_int_equal(atomic_load(&b->leader.tasks[0].pending), 6);
    b->link.swaps_answers = 0;
    drive(b);
    expect(b, UNIT, 1, six);
}

static void test_away_for_too_long(void **state)
{
    bench *b = *state;
    agg_error error;
    bool is_more;
    upload_six(b, UNIT);
    b->leader.job_reports = 4;
    b->link.is_down = 1;
    assert_int_equal(turn(b, &is_more), AGG_ERR_IO);
    b->now_s = (UNIT + 21) * HOUR;
    must(agg_dap_forget_old(&b->leader, &error, b->now_s), &error);
    must(agg_dap_forget_old(&b->helper, &error, b->now_s), &error);
    b->link.is_down = 0;
    upload_six(b, UNIT + 15);
    drive(b);
    assert_int_equal(refused(&b->helper, SHOAL_DAP_REPORT_DROPPED), 4);
    must(agg_dap_forget_old(&b->leader, &error, b->now_s), &error);
    assert_int_equal(atomic_load(&b->leader.tasks[0].pending), 0);
    assert_int_equal(refused(&b->leader, SHOAL_DAP_REPORT_DROPPED), 6);
    expect(b, UNIT + 15, 1, six);
    // None is under way: all of them go, and are counted.
    upload_six(b, UNIT + 5);
    b->now_s = (UNIT + 26) * HOUR;
    must(agg_dap_forget_old(&b->leader, &error, b->now_s), &error);
    assert_int_equal(atomic_load(&b->leader.tasks[0].pending), 0);
    assert_int_equal(refused(&b->leader, SHOAL_DAP_REPORT_DROPPED), 12);
}

// Somebody waits, and the helper takes one report at a time: all that were there are in the batch.
static void test_awaited_in_small_jobs(void **state)
{
    bench *b = *state;
    agg_dap_answer answer;
    bool is_more;
    b->leader.job_reports = 20;
    b->link.too_large_from = 2;
    for (int i = 0; i < 3; i++) upload_six(b, UNIT);
    ask(&answer, b, UNIT, 1);
    agg_dap_answer_release(&answer);
    for (int i = 0; i < 40; i++) assert_int_equal(turn_as(b, &is_more, false), SHOAL_OK);
    expect(b, UNIT, 1, (const uint64_t[]){3, 6, 9, 0});
}

// Who asks for a century does not end the task.
static void test_the_future(void **state)
{
    bench *b = *state;
    const uint64_t end = NOW / HOUR + 25; // of what may be asked for: the day that is under way
    upload_six(b, UNIT);
    expect_problem(b, UNIT, 1000000, SHOAL_DAP_PROBLEM_BATCH_INVALID);
    expect_problem(b, UNIT, end + 1 - UNIT, SHOAL_DAP_PROBLEM_BATCH_INVALID);
    expect_problem(b, UINT64_MAX - 1, 1, SHOAL_DAP_PROBLEM_BATCH_INVALID);
    expect(b, UNIT, end - UNIT, six);
}

// Reports that keep coming, for the batch or for a later one, do not keep it from who waits for it.
static void test_reports_without_end(void **state)
{
    bench *b = *state;
    agg_dap_answer answer;
    bool is_more;
    for (uint64_t batch = 0; batch < 2; batch++) {
        const uint64_t from = UNIT + batch, later = batch == 0 ? from : NOW / HOUR;
        const unsigned n_shares = b->link.n_shares;
        upload_six(b, from);
        ask(&answer, b, from, 1);
        agg_dap_answer_release(&answer);
        for (int i = 0; b->link.n_shares == n_shares; i++) {
            assert_true(i < 20);
            upload_one(b, 3, later, BAD_HELPER_SEAL, 0);
            assert_int_equal(turn_as(b, &is_more, false), SHOAL_OK);
        }
        expect(b, from, 1, six); // every report that was there is in it
    }
}

static void test_malformed_uploads(void **state)
{
    bench *b = *state;
    uint8_t body[REPORT_MAX];
    shoal_dap_writer w = {body, sizeof body, 0, 0};
    put_report(&w, b, 1, UNIT, HONEST);
    for (size_t n = 0; n < w.len; n++) {
        agg_dap_answer answer = {.problem = AGG_DAP_NO_PROBLEM};
        agg_dap_leader_upload(&answer, &b->leader, &b->leader.tasks[0], (shoal_bytes){body, n},
                              b->now_s);
        assert_int_equal(answer.status, 400);
        assert_int_equal(answer.problem, SHOAL_DAP_PROBLEM_INVALID_MESSAGE);
        agg_dap_answer_release(&answer);
    }
    assert_int_equal(upload(b, (shoal_bytes){body, w.len}, 0),
                     0); // none of those left its id behind
}

static void test_deleting(void **state)
{
    bench *b = *state;
    agg_dap_answer answer;
    uint8_t id[AGG_DAP_ID];
    upload_six(b, UNIT);
    expect(b, UNIT, 1, six);
    ask(&answer, b, UNIT, 1);
    memcpy(id, answer.id, sizeof id);
    agg_dap_leader_delete(&answer, &b->leader, &b->leader.tasks[0], id);
    assert_int_equal(answer.status, 204);
    agg_dap_leader_get(&answer, &b->leader, &b->leader.tasks[0], id);
    assert_int_equal(answer.status, 404);
    agg_dap_answer_release(&answer);
    expect_problem(b, UNIT, 1, SHOAL_DAP_PROBLEM_BATCH_OVERLAP); // gone, and still collected
    uint8_t hash[AGG_DAP_HASH];
    agg_dap_hash(hash, (shoal_bytes){b->link.last_job, b->link.last_job_len});
    agg_dap_helper_get(&answer, &b->helper, &b->helper.tasks[0], AGG_DAP_OF_JOB, hash);
    assert_int_equal(answer.status, 200);
    agg_dap_helper_delete(&answer, &b->helper, &b->helper.tasks[0], AGG_DAP_OF_JOB, hash);
    assert_int_equal(answer.status, 204);
    agg_dap_helper_get(&answer, &b->helper, &b->helper.tasks[0], AGG_DAP_OF_JOB, hash);
    assert_int_equal(answer.status, 404);
    assert_int_equal(answer.problem, SHOAL_DAP_PROBLEM_UNRECOGNIZED_AGGREGATION_JOB);
    agg_dap_answer_release(&answer);
    // The job again, as new: every report of it was there before.
    uint64_t before = refused(&b->helper, SHOAL_DAP_REPORT_REPLAYED) +
                      refused(&b->helper, SHOAL_DAP_BATCH_COLLECTED);
    assert_int_equal(job_problem(b, (shoal_bytes){b->link.last_job, b->link.last_job_len}),
                     AGG_DAP_NO_PROBLEM);
    uint64_t after = refused(&b->helper, SHOAL_DAP_REPORT_REPLAYED) +
                     refused(&b->helper, SHOAL_DAP_BATCH_COLLECTED);
    assert_int_equal(after - before,
                     reports_of((shoal_bytes){b->link.last_job, b->link.last_job_len}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_sums_are_exact, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_batch_is_given_out_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_noise_is_drawn_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_noise_never_changes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_two_wait_for_one_batch, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_replays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_helper_remembers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_minimum, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_helper_keeps_the_minimum, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_waits_for_more, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_messages_are_lost, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_when_a_job_is_due, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_answers_of_another_job, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_jobs_that_are_too_large, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_hostile_reports, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_junk_is_not_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_times, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_forgetting, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_malformed_jobs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_hostile_share_requests, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_helper_refuses_extensions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_too_many_wait, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_full_disk_keeps_no_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_full_disk_gives_no_job_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_away_for_too_long, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_awaited_in_small_jobs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_future, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_reports_without_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_malformed_uploads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_deleting, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
