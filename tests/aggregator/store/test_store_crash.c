// SPDX-License-Identifier: Apache-2.0
// The store, killed (SIGKILL) before its system calls, one run a call: whatever was acknowledged by
// then counts, once, and delivering everything again gives exactly the whole; with records on the
// disk, and with sums only. A tracer stops the child at the calls.
#include "store_fixture.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "effort.h"

enum { N = 4, DAY = 20778 };

typedef struct bench {
    char folder[64];
    agg_recipe recipe;
    fixture_batch batches[N];
    volatile uint32_t *acknowledged; // shared with the child: batches whose put returned
} bench;

enum { today = DAY };

// What the server's other thread does now and then, on a day.
static agg_err fold(agg_store *store, agg_error *error, int64_t collection,
                    const shoal_recipe *recipe, int32_t day)
{
    uint64_t n_records;
    return fixture_turn(store, &n_records, error, collection, recipe, (int64_t)FIXTURE_DAY_S * day,
                        FIXTURE_DAY_S);
}

// What the child does: two batches, a fold, two more, a fold, an end in order. No cmocka here: it
// is another process.
static int run_child(bench *b)
{
    agg_error error;
    agg_store *store;
    int64_t collection;
    if (agg_store_open(&store, &error, b->folder) != SHOAL_OK ||
        agg_store_collection(store, &collection, &error, b->recipe.recipe, DAY) != SHOAL_OK) {
        return 1;
    }
    for (uint32_t i = 0; i < N; i++) {
        agg_put put;
        const shoal_recipe *recipe = b->recipe.recipe;
        if (fixture_put(store, &put, &error, collection, recipe, today, &b->batches[i]) != SHOAL_OK)
            return 2;
        *b->acknowledged = i + 1;
        if (i % 2 == 1 && fold(store, &error, collection, recipe, DAY + (int32_t)i / 2) != SHOAL_OK)
            return 3;
    }
    agg_store_close(store);
    return 0;
}

// Starts the child and kills it at its system call number `kill_at` (0: the first after it said it
// is ready). Returns: 1 when it was killed, 0 when it ended before, -1 where tracing is not
// allowed.
static int run_until(bench *b, unsigned kill_at)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) _exit(77);
        raise(SIGSTOP);
        _exit(run_child(b));
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status)) {
        assert_int_equal(WEXITSTATUS(status), 77);
        return -1;
    }
    for (unsigned stops = 0;; stops++) {
        assert_int_equal(ptrace(PTRACE_SYSCALL, child, NULL, NULL), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        if (WIFEXITED(status)) {
            assert_int_equal(WEXITSTATUS(status), 0);
            return 0;
        }
        assert_true(WIFSTOPPED(status));
        if (stops != kill_at * 2) continue; // even stops are entries, odd ones returns
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        return 1;
    }
}

// Folds, and returns how many records the store then holds.
static uint64_t count_records(agg_store *store, int64_t collection, const shoal_recipe *recipe)
{
    agg_error error;
    agg_store_stats stats;
    must(fold(store, &error, collection, recipe, DAY), &error);
    must(agg_store_statistics(store, &stats, &error, collection), &error);
    assert_int_equal(stats.waiting_batches, 0);
    return stats.records;
}

static uint64_t records_of(const bench *b, uint32_t n_batches)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < n_batches; i++) n += b->batches[i].count;
    return n;
}

static void check_store(bench *b, unsigned kill_at)
{
    agg_error error;
    agg_store *store;
    int64_t collection;
    const shoal_recipe *recipe = b->recipe.recipe;
    must(agg_store_open(&store, &error, b->folder), &error);
    must(agg_store_collection(store, &collection, &error, recipe, DAY), &error);
    uint32_t acknowledged = *b->acknowledged;
    uint64_t n = count_records(store, collection, recipe);
    // The batch that was under way may be in or out; nothing else is open.
    if (n != records_of(b, acknowledged) &&
        (acknowledged == N || n != records_of(b, acknowledged + 1))) {
        fail_msg("killed at call %u: %u batches acknowledged, %llu records counted", kill_at,
                 acknowledged, (unsigned long long)n);
    }
    for (uint32_t i = 0; i < N; i++) {
        agg_put put;
        must(fixture_put(store, &put, &error, collection, recipe, today, &b->batches[i]), &error);
        if (i < acknowledged) assert_int_equal(put, AGG_PUT_KNOWN);
    }
    assert_int_equal(count_records(store, collection, recipe), records_of(b, N));
    // Blocks show once they are closed: the child may have closed one of the first two batches, the
    // next tick closes the rest.
    agg_accumulator acc;
    must(fold(store, &error, collection, recipe, DAY + 2), &error);
    must(agg_store_load(store, &acc, NULL, &error, collection, recipe, AGG_SPAN_ALL), &error);
    fixture_expect(&acc, recipe, b->batches, N);
    agg_accumulator_release(&acc);
    agg_store_close(store);
}

static void kill_at_every_call(void (*make_recipe)(agg_recipe *))
{
    bench b = {0};
    make_recipe(&b.recipe);
    for (uint32_t i = 0; i < N; i++) b.batches[i] = fixture_batch_make(b.recipe.recipe, i);
    b.acknowledged = mmap(NULL, sizeof *b.acknowledged, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(b.acknowledged, MAP_FAILED);
    unsigned step = effort_is_small() ? 9 : effort_is_long() ? 1 : 3, runs = 0;
    int was_killed = 1;
    for (unsigned kill_at = 0; was_killed == 1; kill_at += step, runs++) {
        fixture_folder(b.folder);
        *b.acknowledged = 0;
        was_killed = run_until(&b, kill_at);
        if (was_killed >= 0) check_store(&b, kill_at);
        fixture_remove(b.folder);
    }
    for (int i = 0; i < N; i++) free(b.batches[i].bytes);
    agg_recipe_release(&b.recipe);
    munmap((void *)b.acknowledged, sizeof *b.acknowledged);
    if (was_killed < 0) skip();
    print_message("killed at %u system calls\n", runs - 1);
    assert_true(runs > 300 / step); // fewer would mean that the tracer saw nothing
}

static void killed_at_every_call(void **state)
{
    (void)state;
    kill_at_every_call(fixture_recipe);
}

static void killed_at_every_call_of_sums(void **state)
{
    (void)state;
    kill_at_every_call(fixture_sum_recipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(killed_at_every_call),
                                       cmocka_unit_test(killed_at_every_call_of_sums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
