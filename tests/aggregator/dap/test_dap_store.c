// SPDX-License-Identifier: Apache-2.0
// The DAP servers' store: what is done between begin and commit is done whole or not at all, also
// when the process dies; ids, collected intervals and answers stay; what is old is forgotten.
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "dap_store.h"

enum { ANY = 7 };

typedef struct bench {
    char folder[64];
    agg_dap_store *store;
    int64_t task;
} bench;

static const uint8_t task_id[SHOAL_DAP_TASK_ID] = {1}, digest[32] = {2};

static void must(agg_err err, const agg_error *error)
{
    if (err != SHOAL_OK) fail_msg("%s", error->text);
}

static void reopen(bench *b)
{
    agg_error error;
    agg_dap_store_close(b->store);
    b->store = NULL;
    must(agg_dap_store_open(&b->store, &error, b->folder), &error);
    must(agg_dap_store_task(b->store, &b->task, &error, task_id, digest), &error);
}

static int set_up(void **state)
{
    bench *b = calloc(1, sizeof *b);
    snprintf(b->folder, sizeof b->folder, "%s/shoal-dap-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(b->folder));
    reopen(b);
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    bench *b = *state;
    char command[96];
    agg_dap_store_close(b->store);
    snprintf(command, sizeof command, "rm -rf '%s'", b->folder);
    assert_int_equal(system(command), 0);
    free(b);
    return 0;
}

static void begin(bench *b)
{
    agg_error error;
    must(agg_dap_begin(b->store, &error), &error);
}

static void commit(bench *b)
{
    agg_error error;
    must(agg_dap_commit(b->store, &error), &error);
}

static void id_of(uint8_t id[SHOAL_DAP_REPORT_ID], uint8_t i)
{
    memset(id, i, SHOAL_DAP_REPORT_ID);
}

// Knows and keeps the report i, in bucket i.
static void add(bench *b, uint8_t i)
{
    agg_error error;
    uint8_t id[SHOAL_DAP_REPORT_ID], body[3] = {i, i, i};
    id_of(id, i);
    must(agg_dap_know(b->store, &error, b->task, id, i), &error);
    must(agg_dap_report_add(b->store, &error, b->task, id, i, (shoal_bytes){body, sizeof body}),
         &error);
}

static bool is_known(bench *b, uint8_t i)
{
    agg_error error;
    uint8_t id[SHOAL_DAP_REPORT_ID];
    bool known = false, again = true; // both are written, whatever they were
    id_of(id, i);
    begin(b);
    must(agg_dap_is_known(b->store, &known, &error, b->task, id), &error);
    must(agg_dap_is_known(b->store, &again, &error, b->task, id), &error);
    commit(b);
    assert_int_equal(known, again);
    return known;
}

static uint64_t count(bench *b, shoal_dap_interval interval)
{
    agg_error error;
    uint64_t n = 99;
    begin(b);
    must(agg_dap_report_count(b->store, &n, &error, b->task, interval, 4), &error);
    commit(b);
    return n;
}

static bool is_collected(bench *b, uint64_t start, uint64_t duration)
{
    agg_error error;
    const shoal_dap_interval interval = {start, duration};
    bool collected = false, again = true; // both are written, whatever they were
    begin(b);
    must(agg_dap_is_collected(b->store, &collected, &error, b->task, interval), &error);
    must(agg_dap_is_collected(b->store, &again, &error, b->task, interval), &error);
    commit(b);
    assert_int_equal(collected, again);
    return collected;
}

// Returns: the reports in an interval's buckets. Call between begin and commit.
static uint64_t count_aggregated(bench *b, uint64_t start, uint64_t duration)
{
    agg_error error;
    const shoal_dap_interval interval = {start, duration};
    uint64_t n = 0;
    for (uint64_t from = 0;;) {
        agg_dap_bucket one;
        must(agg_dap_bucket_next(b->store, &one, &error, b->task, interval, from), &error);
        if (one.share == NULL) return n;
        n += one.n_reports;
        from = one.bucket + 1;
        agg_dap_bucket_release(&one);
    }
}

static void test_abandoned_is_nothing(void **state)
{
    bench *b = *state;
    begin(b);
    add(b, 1);
    agg_dap_abandon(b->store);
    assert_int_equal(is_known(b, 1), 0);
    assert_int_equal(count(b, (shoal_dap_interval){0, UINT64_MAX}), 0);
    begin(b);
    add(b, 1);
    commit(b);
    reopen(b);
    assert_int_equal(is_known(b, 1), 1);
    assert_int_equal(count(b, (shoal_dap_interval){0, UINT64_MAX}), 1);
}

// A process that is killed leaves what it committed, and nothing of what it did not.
static void test_killed(void **state)
{
    bench *b = *state;
    agg_dap_store_close(b->store);
    b->store = NULL;
    pid_t child = fork();
    if (child == 0) {
        agg_error error;
        reopen(b);
        begin(b);
        add(b, 1);
        if (agg_dap_commit(b->store, &error) != SHOAL_OK ||
            agg_dap_begin(b->store, &error) != SHOAL_OK)
            _exit(1);
        add(b, 2);
        raise(SIGKILL);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    reopen(b);
    assert_int_equal(is_known(b, 1), 1);
    assert_int_equal(is_known(b, 2), 0);
    assert_int_equal(count(b, (shoal_dap_interval){0, 10}), 1);
}

static void test_reports(void **state)
{
    bench *b = *state;
    agg_error error;
    agg_dap_pendings found = {0};
    uint64_t n = 0;
    uint8_t id[SHOAL_DAP_REPORT_ID];
    begin(b);
    for (uint8_t i = 5; i > 0; i--) add(b, i);
    // In the order of the ids; bytes are a bound, but for the first one.
    must(agg_dap_report_next(b->store, &found, &error, b->task, 3, 1000), &error);
    assert_int_equal(found.n, 3);
    for (uint8_t i = 0; i < 3; i++) {
        assert_int_equal(found.list[i].id[0], i + 1);
        assert_int_equal(found.list[i].bucket, i + 1);
        assert_int_equal(found.list[i].len, 3);
        assert_int_equal(found.list[i].body[0], i + 1);
    }
    agg_dap_pendings_release(&found);
    must(agg_dap_report_next(b->store, &found, &error, b->task, 5, 6), &error);
    assert_int_equal(found.n, 2);
    agg_dap_pendings_release(&found);
    must(agg_dap_report_next(b->store, &found, &error, b->task, 5, 1), &error);
    assert_int_equal(found.n, 1);
    agg_dap_pendings_release(&found);
    id_of(id, 3);
    must(agg_dap_report_remove(b->store, &error, b->task, id), &error);
    must(agg_dap_report_find(b->store, &found, &error, b->task, id), &error);
    assert_int_equal(found.n, 0);
    must(agg_dap_report_remove_all(b->store, &n, &error, b->task, (shoal_dap_interval){4, 2}),
         &error);
    assert_int_equal(n, 2); // 4 and 5: the interval's end is outside
    commit(b);
    assert_int_equal(count(b, (shoal_dap_interval){0, 3}), 2);
    assert_int_equal(count(b, (shoal_dap_interval){2, 1}), 1);
    assert_int_equal(is_known(b, 5), 1); // removed, and still known
}

static void test_buckets(void **state)
{
    bench *b = *state;
    agg_error error;
    uint8_t share[4] = {1, 2, 3, 4};
    agg_dap_bucket set = {.bucket = 3, .n_reports = 2, .checksum = {9}, .share = share, .len = 4},
                   got;
    begin(b);
    must(agg_dap_bucket_get(b->store, &got, &error, b->task, 3), &error);
    assert_null(got.share);
    must(agg_dap_bucket_set(b->store, &error, b->task, &set), &error);
    set.bucket = 8;
    set.n_reports = 5;
    must(agg_dap_bucket_set(b->store, &error, b->task, &set), &error);
    set.n_reports = 6;
    must(agg_dap_bucket_set(b->store, &error, b->task, &set), &error);
    commit(b);
    reopen(b);
    begin(b);
    must(agg_dap_bucket_next(b->store, &got, &error, b->task, (shoal_dap_interval){0, 9}, 4),
         &error);
    assert_int_equal(got.bucket, 8);
    assert_int_equal(got.n_reports, 6);
    assert_int_equal(got.checksum[0], 9);
    assert_int_equal(got.len, 4);
    assert_memory_equal(got.share, share, 4);
    agg_dap_bucket_release(&got);
    must(agg_dap_bucket_next(b->store, &got, &error, b->task, (shoal_dap_interval){0, 8}, 4),
         &error);
    assert_null(got.share); // the interval ends before 8
    assert_int_equal(count_aggregated(b, 3, 6), 8);
    must(agg_dap_batch_close(b->store, &error, b->task, (shoal_dap_interval){3, 5}), &error);
    assert_int_equal(count_aggregated(b, 0, UINT64_MAX), 6);
    commit(b);
    // Collected: 3 .. 7.
    assert_int_equal(is_collected(b, 3, 1), 1);
    assert_int_equal(is_collected(b, 7, 1), 1);
    assert_int_equal(is_collected(b, 0, 4), 1);
    assert_int_equal(is_collected(b, 7, 9), 1);
    assert_int_equal(is_collected(b, 0, UINT64_MAX), 1);
    assert_int_equal(is_collected(b, 0, 3), 0);
    assert_int_equal(is_collected(b, 8, 100), 0);
}

static void test_jobs_and_collections(void **state)
{
    bench *b = *state;
    agg_error error;
    uint8_t ids[32] = {1}, request[3] = {4, 5, 6}, after[AGG_DAP_ID] = {1};
    agg_dap_job job = {ids, 2, request, 3}, got;
    agg_dap_collection c = {.id = {1},
                            .query = {4, UINT64_MAX - 4},
                            .request = request,
                            .request_len = 3},
                       read;
    begin(b);
    must(agg_dap_job_get(b->store, &got, &error, b->task), &error);
    assert_null(got.request);
    must(agg_dap_job_set(b->store, &error, b->task, &job), &error);
    assert_int_equal(agg_dap_job_set(b->store, &error, b->task, &job), AGG_ERR_IO); // one at a time
    agg_dap_abandon(b->store);
    begin(b);
    must(agg_dap_job_set(b->store, &error, b->task, &job), &error);
    must(agg_dap_collection_set(b->store, &error, b->task, &c), &error);
    c.id[0] = 2;
    c.state = AGG_DAP_READY;
    c.answer = request;
    c.answer_len = 2;
    must(agg_dap_collection_set(b->store, &error, b->task, &c), &error);
    commit(b);
    reopen(b);
    begin(b);
    must(agg_dap_job_get(b->store, &got, &error, b->task), &error);
    assert_int_equal(got.n, 2);
    assert_memory_equal(got.ids, ids, 32);
    assert_int_equal(got.len, 3);
    assert_memory_equal(got.request, request, 3);
    agg_dap_job_release(&got);
    must(agg_dap_collection_next(b->store, &read, &error, b->task, AGG_DAP_WAITING, NULL), &error);
    assert_int_equal(read.id[0], 1);
    assert_true(read.query.duration == UINT64_MAX - 4);
    assert_null(read.answer);
    agg_dap_collection_release(&read);
    must(agg_dap_collection_next(b->store, &read, &error, b->task, AGG_DAP_WAITING, after), &error);
    assert_null(read.request);
    must(agg_dap_collection_get(b->store, &read, &error, b->task, c.id), &error);
    assert_int_equal(read.state, AGG_DAP_READY);
    assert_int_equal(read.answer_len, 2);
    agg_dap_collection_release(&read);
    commit(b);
}

static void test_answers(void **state)
{
    bench *b = *state;
    agg_error error;
    uint8_t hash[AGG_DAP_HASH] = {1, 2, 3}, *body = NULL;
    size_t len = 0;
    begin(b);
    must(agg_dap_answer_set(b->store, &error, b->task, AGG_DAP_OF_JOB, hash, 9,
                            (shoal_bytes){hash, 3}),
         &error);
    must(agg_dap_answer_get(b->store, &body, &len, &error, b->task, AGG_DAP_OF_JOB, hash, false),
         &error);
    assert_int_equal(len, 3);
    free(body);
    must(agg_dap_answer_get(b->store, &body, &len, &error, b->task, AGG_DAP_OF_SHARE, hash, false),
         &error);
    assert_null(body);
    hash[AGG_DAP_HASH - 1] = 1; // another request whose id is the same
    must(agg_dap_answer_get(b->store, &body, &len, &error, b->task, AGG_DAP_OF_JOB, hash, false),
         &error);
    assert_null(body);
    must(agg_dap_answer_get(b->store, &body, &len, &error, b->task, AGG_DAP_OF_JOB, hash, true),
         &error);
    assert_non_null(body);
    free(body);
    must(agg_dap_answer_remove(b->store, &error, b->task, AGG_DAP_OF_JOB, hash), &error);
    must(agg_dap_answer_get(b->store, &body, &len, &error, b->task, AGG_DAP_OF_JOB, hash, true),
         &error);
    assert_null(body);
    commit(b);
}

static void test_forgets_the_old(void **state)
{
    bench *b = *state;
    agg_error error;
    bool is_left = 0;
    uint64_t floor = 0, n_reports = 0;
    uint8_t hash[AGG_DAP_HASH] = {1}, *body;
    size_t len;
    begin(b);
    for (uint8_t i = 1; i <= ANY; i++) add(b, i);
    must(agg_dap_answer_set(b->store, &error, b->task, AGG_DAP_OF_JOB, hash, 3,
                            (shoal_bytes){hash, 3}),
         &error);
    must(agg_dap_forget(b->store, &is_left, &n_reports, &error, b->task, 5, 3),
         &error); // 1 .. 4, three at a time
    assert_int_equal(is_left, 1);
    assert_int_equal(n_reports, 3);
    must(agg_dap_forget(b->store, &is_left, &n_reports, &error, b->task, 5, 3), &error);
    assert_int_equal(is_left, 0);
    must(agg_dap_forget(b->store, &is_left, &n_reports, &error, b->task, 2, 3),
         &error); // a clock that went back
    must(agg_dap_floor(b->store, &floor, &error, b->task), &error);
    assert_int_equal(floor, 5);
    must(agg_dap_answer_get(b->store, &body, &len, &error, b->task, AGG_DAP_OF_JOB, hash, false),
         &error);
    assert_null(body);
    commit(b);
    assert_int_equal(is_known(b, 4), 0);
    assert_int_equal(is_known(b, 5), 1);
    assert_int_equal(count(b, (shoal_dap_interval){0, 100}), 3);
}

static void test_refuses(void **state)
{
    bench *b = *state;
    agg_error error;
    agg_dap_store *other = NULL;
    int64_t number;
    const uint8_t changed[32] = {3}, second[SHOAL_DAP_TASK_ID] = {9};
    assert_int_equal(agg_dap_store_open(&other, &error, b->folder), AGG_ERR_IO); // held
    assert_int_equal(agg_dap_store_task(b->store, &number, &error, task_id, changed),
                     SHOAL_ERR_RECIPE_HASH);
    must(agg_dap_store_task(b->store, &number, &error, second, changed), &error);
    assert_int_not_equal(number, b->task);
    begin(b); // the refusal left no transaction open
    commit(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_abandoned_is_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_killed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_reports, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_buckets, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_jobs_and_collections, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_answers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_forgets_the_old, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refuses, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
