// SPDX-License-Identifier: Apache-2.0
// Every allocation of every call of libshoal_aggregate fails once, and then all that follow it too.
// The call says so, what it was given is as it was, nothing stays allocated, and the same call
// succeeds afterwards. This program's malloc stands in for that of the C library, also in the
// shared library and in all that it calls.
#include "agg_test.h"

#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

#include "batch.h"
#include "recipe.h"
#include "report_json.h"
#include "shoal_aggregate.h"

// ---- an allocator that fails ----

static atomic_long n_live;      // blocks that are not freed
static atomic_long left = -1;   // allocations until one fails; below 0: none does
static atomic_bool is_for_good; // all that follow fail too
static atomic_long n_failed;

#if !EFFORT_SANITIZED

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *block, size_t size);
void __libc_free(void *block);

// A place for a breakpoint.
static __attribute__((noinline)) bool fail_now(void)
{
    atomic_fetch_add(&n_failed, 1);
    errno = ENOMEM;
    return true;
}

static bool is_failing(void)
{
    long before = atomic_load(&left);
    if (before < 0) return false;
    if (before == 0 && atomic_load(&is_for_good)) {
        return fail_now();
    }
    before = atomic_fetch_sub(&left, 1);
    if (before != 0) return false;
    if (atomic_load(&is_for_good)) atomic_store(&left, 0);
    return fail_now();
}

static void *note(void *block)
{
    if (block != NULL) atomic_fetch_add(&n_live, 1);
    return block;
}

void *malloc(size_t size)
{
    return is_failing() ? NULL : note(__libc_malloc(size));
}

void *calloc(size_t n, size_t size)
{
    return is_failing() ? NULL : note(__libc_calloc(n, size));
}

void *realloc(void *block, size_t size)
{
    if (is_failing()) return NULL;
    void *made = __libc_realloc(block, size);
    if (block == NULL && made != NULL) atomic_fetch_add(&n_live, 1);
    return made;
}

void free(void *block)
{
    if (block != NULL) atomic_fetch_sub(&n_live, 1);
    __libc_free(block);
}

#endif

// ---- the calls ----

enum { RECORDS = 400 };

typedef struct world {
    char text[1024], folder[64], path[96], options[512];
    agg_recipe own;
    uint8_t *records, *batch, *stored;
    char *lines;
    size_t batch_len, lines_len, stored_len;
    shoal_agg_recipe *recipe;
    shoal_agg_accumulator *sum, *other; // one batch each
    shoal_agg_error error;
} world;

// A call. Whatever it makes is released by the call itself.
typedef shoal_agg_code (*call)(world *w);

static shoal_agg_code open_recipe(world *w)
{
    shoal_agg_recipe *made = NULL;
    shoal_agg_code code =
        shoal_agg_recipe_from_json(&made, NULL, w->text, strlen(w->text), &w->error);
    shoal_agg_recipe_free(made);
    return code;
}

static shoal_agg_code open_recipe_file(world *w)
{
    shoal_agg_recipe *made = NULL;
    shoal_agg_code code = shoal_agg_recipe_from_file(&made, w->path, &w->error);
    shoal_agg_recipe_free(made);
    return code;
}

// Adds to an accumulator of its own. One that memory ended in refuses what comes later.
static shoal_agg_code add_to_new(world *w, int what)
{
    shoal_agg_accumulator *acc = NULL;
    shoal_agg_error later;
    shoal_agg_code code = shoal_agg_accumulator_new(&acc, w->recipe, &w->error);
    if (code != SHOAL_AGG_OK) return code;
    shoal_agg_accumulator_set_threads(acc, 2);
    code = what == 0
               ? shoal_agg_accumulator_add_batches(acc, w->batch, w->batch_len, 0, NULL, &w->error)
           : what == 1
               ? shoal_agg_accumulator_add_reports(acc, w->lines, w->lines_len, 0, NULL, &w->error)
               : shoal_agg_accumulator_add_records(acc, w->records, RECORDS, w->batch, &w->error);
    long kept = atomic_exchange(&left, -1);
    uint64_t n = shoal_agg_accumulator_n(acc);
    if (code != SHOAL_AGG_OK && n != 0)
        assert_int_equal(shoal_agg_accumulator_add_records(acc, w->records, 1, NULL, &later),
                         SHOAL_AGG_MEMORY);
    if (code == SHOAL_AGG_OK) assert_int_equal(n, RECORDS);
    atomic_store(&left, kept);
    shoal_agg_accumulator_free(acc);
    return code;
}

static shoal_agg_code add_batches(world *w)
{
    return add_to_new(w, 0);
}

static shoal_agg_code add_reports(world *w)
{
    return add_to_new(w, 1);
}

static shoal_agg_code add_records(world *w)
{
    return add_to_new(w, 2);
}

static shoal_agg_code read_bytes(world *w)
{
    shoal_agg_accumulator *acc = NULL;
    shoal_agg_code code =
        shoal_agg_accumulator_from_bytes(&acc, w->recipe, w->stored, w->stored_len, &w->error);
    shoal_agg_accumulator_free(acc);
    return code;
}

// A merge, of which nothing half-done may stay.
static shoal_agg_code merge(world *w)
{
    shoal_agg_accumulator *into = NULL;
    shoal_agg_code code = shoal_agg_accumulator_new(&into, w->recipe, &w->error);
    if (code == SHOAL_AGG_OK) code = shoal_agg_accumulator_merge(into, w->other, &w->error);
    if (code == SHOAL_AGG_OK) code = shoal_agg_accumulator_merge(into, w->sum, &w->error);
    if (into != NULL) {
        uint64_t n = shoal_agg_accumulator_n(into);
        assert_true(n % RECORDS == 0);
        assert_int_equal(shoal_agg_accumulator_n_claims(into), n / RECORDS);
    }
    shoal_agg_accumulator_free(into);
    return code;
}

static shoal_agg_code to_bytes(world *w)
{
    shoal_agg_bytes bytes = {NULL, 0};
    shoal_agg_code code = shoal_agg_accumulator_to_bytes(w->sum, &bytes, &w->error);
    shoal_agg_bytes_free(&bytes);
    return code;
}

static shoal_agg_code save(world *w)
{
    char path[128];
    snprintf(path, sizeof path, "%s/saved.acc", w->folder);
    shoal_agg_code code = shoal_agg_accumulator_save(w->sum, path, &w->error);
    long kept = atomic_exchange(&left, -1);
    assert_int_equal(access(path, F_OK) == 0, code == SHOAL_AGG_OK);
    unlink(path);
    atomic_store(&left, kept);
    return code;
}

static shoal_agg_code estimate_all(world *w)
{
    const shoal_agg_estimate_options options = {.size = sizeof options, .n_threads = 2};
    shoal_agg_estimate *made = NULL;
    shoal_agg_code code = shoal_agg_estimate_new(&made, w->sum, NULL, 0, &options, &w->error);
    shoal_agg_estimate_free(made);
    return code;
}

static shoal_agg_code estimate_some(world *w)
{
    const shoal_agg_text values[] = {{"bee", 3}, {"ant", 3}, {"bee", 3}};
    const uint64_t indices[] = {1, 0};
    shoal_agg_estimate *made = NULL;
    shoal_agg_code code = shoal_agg_estimate_new(&made, w->sum, values, 3, NULL, &w->error);
    shoal_agg_estimate_free(made);
    if (code != SHOAL_AGG_OK) return code;
    made = NULL;
    code = shoal_agg_estimate_new_of_indices(&made, w->sum, indices, 2, NULL, &w->error);
    shoal_agg_estimate_free(made);
    return code;
}

static shoal_agg_code run_command(world *w, const char *command, const char *options,
                                  const char *format)
{
    shoal_agg_context *context = NULL;
    shoal_agg_bytes out = {NULL, 0};
    shoal_agg_code code = shoal_agg_context_new(&context, &w->error);
    if (code == SHOAL_AGG_OK)
        code = shoal_agg_run(context, command, options, format, &out, &w->error);
    shoal_agg_bytes_free(&out);
    shoal_agg_context_free(context);
    return code;
}

static shoal_agg_code run_estimate(world *w)
{
    return run_command(w, "estimate", w->options, "json");
}

static shoal_agg_code run_plan(world *w)
{
    return run_command(w, "plan", "{\"devices\":1000,\"size\":5,\"epsilon\":2}", "json");
}

static shoal_agg_code run_check(world *w)
{
    char options[160];
    snprintf(options, sizeof options, "{\"words\":[\"%s\"]}", w->path);
    return run_command(w, "recipe check", options, "json");
}

// ---- the test ----

static void write_file(const char *path, const void *bytes, size_t len)
{
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, len, stream), len);
    assert_int_equal(fclose(stream), 0);
}

static shoal_agg_accumulator *folded(world *w, uint8_t salt)
{
    const uint8_t salts[16] = {salt};
    shoal_agg_accumulator *acc = NULL;
    memcpy(w->batch + SHOAL_BATCH_HEADER, w->records, RECORDS * w->own.recipe->record_size);
    assert_ok(shoal_batch_seal(w->batch, w->batch_len, w->own.recipe, RECORDS, 20000, salts));
    assert_ok(shoal_agg_accumulator_new(&acc, w->recipe, NULL));
    assert_ok(shoal_agg_accumulator_add_batches(acc, w->batch, w->batch_len, 0, NULL, NULL));
    return acc;
}

static void open_world(world *w)
{
    shoal_agg_bytes bytes;
    char path[128];
    memset(w, 0, sizeof *w);
    snprintf(w->folder, sizeof w->folder, "/tmp/shoal-memory-XXXXXX");
    assert_non_null(mkdtemp(w->folder));
    onehot_text(w->text, 2, "\"values\":[\"ant\",\"bee\",\"cat\"]",
                ",\"cohort\":{\"minimum\":100}");
    read_recipe(&w->own, w->text);
    assert_ok(shoal_agg_recipe_from_json(&w->recipe, NULL, w->text, strlen(w->text), NULL));
    w->records = make_records(&w->own, RECORDS, 1);
    w->batch_len = shoal_batch_size(w->own.recipe, RECORDS);
    w->batch = calloc(1, w->batch_len);
    w->other = folded(w, 2);
    w->sum = folded(w, 1);
    size_t size = agg_report_size(&w->own);
    w->lines_len = RECORDS * (size + 1);
    w->lines = malloc(w->lines_len);
    for (uint32_t i = 0; i < RECORDS; i++) {
        char *line = w->lines + i * (size + 1);
        const uint8_t *record = w->records + (size_t)i * w->own.recipe->record_size;
        assert_ok(agg_report_print(line, size, &w->own, record));
        line[size] = '\n';
    }
    assert_ok(shoal_agg_accumulator_to_bytes(w->sum, &bytes, NULL));
    w->stored = bytes.data;
    w->stored_len = bytes.len;
    snprintf(w->path, sizeof w->path, "%s/r.json", w->folder);
    write_file(w->path, w->text, strlen(w->text));
    snprintf(path, sizeof path, "%s/a.acc", w->folder);
    write_file(path, w->stored, w->stored_len);
    snprintf(w->options, sizeof w->options, "{\"recipe\":\"%s\",\"words\":[\"%s\"]}", w->path,
             path);
}

static void close_world(world *w)
{
    char path[128];
    shoal_agg_accumulator_free(w->sum);
    shoal_agg_accumulator_free(w->other);
    shoal_agg_recipe_free(w->recipe);
    agg_recipe_release(&w->own);
    free(w->records);
    free(w->batch);
    free(w->lines);
    free(w->stored);
    snprintf(path, sizeof path, "%s/a.acc", w->folder);
    unlink(path);
    unlink(w->path);
    rmdir(w->folder);
}

static void check_unchanged(const world *w)
{
    shoal_agg_bytes bytes;
    assert_ok(shoal_agg_accumulator_to_bytes(w->sum, &bytes, NULL));
    assert_int_equal(bytes.len, w->stored_len);
    assert_memory_equal(bytes.data, w->stored, bytes.len);
    shoal_agg_bytes_free(&bytes);
    assert_int_equal(shoal_agg_accumulator_n(w->other), RECORDS);
}

// Returns: how many allocations the call makes.
static long fail_each(world *w, const char *name, call one, bool for_good)
{
    // Each twice: libcrypto keeps a list of errors from the first one on.
    for (long step = 0;; step++) {
        const long n = step / 2;
        long before = atomic_load(&n_live);
        memset(&w->error, 0, sizeof w->error);
        atomic_store(&n_failed, 0);
        atomic_store(&is_for_good, for_good);
        atomic_store(&left, n);
        shoal_agg_code code = one(w);
        atomic_store(&left, -1);
        if (atomic_load(&n_failed) == 0) {
            assert_int_equal(code, SHOAL_AGG_OK);
            return n;
        }
        // Opening a file needs memory too, and says so as the system does.
        bool says_memory =
            code == SHOAL_AGG_MEMORY ||
            (code == SHOAL_AGG_IO && strstr(w->error.text, strerror(ENOMEM)) != NULL);
        if (code != SHOAL_AGG_OK && !says_memory)
            fail_msg("%s, allocation %ld: %s: %s", name, n, shoal_agg_error_name(code),
                     w->error.text);
        if (code != SHOAL_AGG_OK && (w->error.code != code || w->error.text[0] == '\0'))
            fail_msg("%s, allocation %ld: the error is empty", name, n);
        long leaked = atomic_load(&n_live) - before;
        if (leaked != 0 && step % 2 == 1)
            fail_msg("%s, allocation %ld: %ld blocks stay", name, n, leaked);
        if (one(w) != SHOAL_AGG_OK) fail_msg("%s fails after allocation %ld failed", name, n);
        check_unchanged(w);
    }
}

static void every_allocation_may_fail(void **state)
{
    static const struct {
        const char *name;
        call one;
        long least; // allocations; fewer would mean that the allocator is not in the way
    } calls[] = {{"recipe_from_json", open_recipe, 20},
                 {"recipe_from_file", open_recipe_file, 20},
                 {"add_batches", add_batches, 5},
                 {"add_reports", add_reports, 5},
                 {"add_records", add_records, 5},
                 {"from_bytes", read_bytes, 5},
                 {"merge", merge, 3},
                 {"to_bytes", to_bytes, 1},
                 {"save", save, 3},
                 {"estimate", estimate_all, 10},
                 {"estimate of some", estimate_some, 10},
                 {"run estimate", run_estimate, 50},
                 {"run plan", run_plan, 20},
                 {"run recipe check", run_check, 50}};
    static world w;
    (void)state;
    if (EFFORT_SANITIZED) skip(); // a sanitizer has an allocator of its own
    open_world(&w);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        assert_ok(calls[i].one(&w)); // what is allocated once for ever is there now
        for (int for_good = 0; for_good < 2; for_good++) {
            long n = fail_each(&w, calls[i].name, calls[i].one, for_good);
            if (n < calls[i].least) fail_msg("%s: %ld allocations", calls[i].name, n);
        }
    }
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
