// SPDX-License-Identifier: Apache-2.0
// Property: any sequence of ingests, appends, merges, repeats, crashes and calls at the same time
// leaves accumulators that count each input once, or refuses and changes nothing.
//
// Each of the sequences (10,000 in make test-long) has its own folder state and a model: the set of
// inputs that each accumulator counts. A call must succeed exactly when the model says that nothing
// would be counted twice, and the file must then hold exactly the sums of the model's set.
// SHOAL_SEED replaces the seed, which is printed.
//
// The linker gives the functions that touch the disk other bodies (--wrap): a process can be made
// to die before or after any of them, or to pause between reading an accumulator and replacing it.
#include "agg_test.h"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "batch.h"
#include "bytes.h"
#include "ingest_files.h"
#include "merge_files.h"
#include "recipe.h"
#include "report_json.h"

#define STEPS 6u        // calls of a sequence
#define N_INPUTS 12u    // of which the first N_BATCHES are batches, and the rest files of reports
#define N_BATCHES 8u    //
#define N_FILES 4u      // accumulators that calls write and read
#define RECORDS_MAX 3u  // of an input
#define CELLS 16u       // of the recipe's sketch
#define NONE UINT32_MAX // there is no such file

// ---- the disk ----

static unsigned crash_at;   // the process dies at this call from now; 0: never
static bool crashes_before; // before the call, else after it
static unsigned pause_us;   // before a file is replaced
static bool is_child;

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __real_unlink(const char *path);
int __wrap_unlink(const char *path);
int __wrap_fsync(int fd);
void __wrap_agg_log_line(void *command, const char *text);

static void die(void)
{
    _exit(99);
}

// Returns: whether the process is to die after this call.
static bool count_call(void)
{
    if (!is_child || crash_at == 0 || --crash_at > 0) return false;
    if (crashes_before) die();
    return true;
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
    bool is_last = mode[0] == 'w' && count_call();
    FILE *stream = __real_fopen(path, mode);
    if (is_last) die();
    return stream;
}

// What was written before is in the file, since the process dies and not the machine.
int __wrap_fsync(int fd)
{
    (void)fd;
    bool is_last = count_call();
    if (pause_us > 0) usleep(pause_us);
    if (is_last) die();
    return 0;
}

int __wrap_rename(const char *from, const char *to)
{
    bool is_last = count_call();
    int result = __real_rename(from, to);
    if (is_last) die();
    return result;
}

int __wrap_unlink(const char *path)
{
    bool is_last = count_call();
    int result = __real_unlink(path);
    if (is_last) die();
    return result;
}

void __wrap_agg_log_line(void *command, const char *text)
{
    (void)command;
    (void)text;
}

// ---- random choices ----

static uint64_t state_of_chance;

static uint32_t below(uint32_t n)
{
    state_of_chance += 0x9E3779B97F4A7C15;
    uint64_t x = state_of_chance;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
    x = (x ^ x >> 27) * 0x94D049BB133111EB;
    return (uint32_t)((x ^ x >> 31) >> 32) % n;
}

// ---- inputs ----

typedef struct input {
    uint8_t *bytes;
    size_t len;
    uint32_t n, cells[CELLS];
} input;

static input inputs[N_INPUTS];
static agg_recipe recipe;
static char folder[64];

static const char *path_of(char out[128], const char *name, uint32_t number)
{
    snprintf(out, 128, "%s/%s%u", folder, name, number);
    return out;
}

static void write_bytes(const char *path, const uint8_t *bytes, size_t len, const char *mode)
{
    FILE *stream = __real_fopen(path, mode);
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, len, stream), len);
    fclose(stream);
}

static void make_input(uint32_t index)
{
    input *in = &inputs[index];
    agg_accumulator acc;
    uint8_t id[16] = {(uint8_t)(1 + index), 0, (uint8_t)index};
    in->n = 1 + index % RECORDS_MAX;
    uint8_t *records = make_records(&recipe, in->n, 100 * index);
    read_acc(&acc, &recipe, records, in->n, 1);
    assert_int_equal(acc.parts[0].n_cells, CELLS);
    memcpy(in->cells, acc.parts[0].cells.ones, sizeof in->cells);
    agg_accumulator_release(&acc);
    size_t size = recipe.recipe->record_size, line = agg_report_size(&recipe) + 1;
    in->len = index < N_BATCHES ? shoal_batch_size(recipe.recipe, in->n) : in->n * line;
    in->bytes = malloc(in->len + 1);
    assert_non_null(in->bytes);
    if (index < N_BATCHES) {
        memcpy(in->bytes + SHOAL_BATCH_HEADER, records, in->n * size);
        assert_ok(shoal_batch_seal(in->bytes, in->len, recipe.recipe, in->n, 20780, id));
    } else {
        for (uint32_t i = 0; i < in->n; i++) {
            char *at = (char *)in->bytes + i * line;
            assert_ok(agg_report_print(at, line, &recipe, records + i * size));
            at[line - 1] = '\n';
        }
    }
    free(records);
}

// ---- the model ----

static uint32_t counted[N_FILES]; // the inputs that each accumulator counts, a bit each, or NONE

typedef enum kind { INGEST, MERGE } kind;

// One call. Its files of input hold these inputs, in this order; a merge's files are accumulators.
typedef struct call {
    kind kind;
    uint32_t target, n_files;
    uint32_t n_inputs[3], inputs[3][4];
    uint32_t merged[3];
    bool is_appending, skips_held;
} call;

// Finds what a call leaves.
// Returns: false where it must be refused.
static bool predict(uint32_t *after, const call *c)
{
    uint32_t old = counted[c->target], sum = 0;
    if (c->kind == MERGE) {
        for (uint32_t i = 0; i < c->n_files; i++) {
            if ((sum & counted[c->merged[i]]) != 0) return false;
            sum |= counted[c->merged[i]];
        }
        *after = sum;
        return true;
    }
    if (old != NONE && !c->is_appending) return false;
    old = old == NONE ? 0 : old;
    for (uint32_t i = 0; i < c->n_files; i++) {
        for (uint32_t j = 0; j < c->n_inputs[i]; j++) {
            uint32_t one = 1u << c->inputs[i][j];
            bool is_batch = c->inputs[i][j] < N_BATCHES;
            if ((old & one) != 0 && !c->skips_held) return false;
            if ((sum & one) != 0 && !is_batch && !c->skips_held) return false;
            sum |= one;
        }
    }
    *after = old | sum;
    return true;
}

static void draw_ingest(call *c)
{
    c->n_files = 1 + below(3);
    for (uint32_t i = 0; i < c->n_files; i++) {
        bool has_lines = below(3) == 0;
        c->n_inputs[i] = has_lines ? 1 : 1 + below(4);
        for (uint32_t j = 0; j < c->n_inputs[i]; j++)
            c->inputs[i][j] =
                has_lines ? N_BATCHES + below(N_INPUTS - N_BATCHES) : below(N_BATCHES);
    }
    c->is_appending = counted[c->target] != NONE ? below(8) > 0 : below(2) > 0;
    c->skips_held = c->is_appending && below(3) == 0;
}

// Draws accumulators that exist, each once.
// Returns: false if there are none.
static bool draw_merge(call *c)
{
    uint32_t there[N_FILES], n = 0;
    for (uint32_t i = 0; i < N_FILES; i++)
        if (counted[i] != NONE) there[n++] = i;
    if (n == 0) return false;
    for (uint32_t i = n; i-- > 1;) {
        uint32_t other = below(i + 1), one = there[i];
        there[i] = there[other];
        there[other] = one;
    }
    c->kind = MERGE;
    c->n_files = 1 + below(n < 3 ? n : 3);
    memcpy(c->merged, there, sizeof c->merged);
    return true;
}

static call draw_call(void)
{
    call c = {.kind = INGEST, .target = below(N_FILES)};
    if (below(3) > 0 || !draw_merge(&c)) draw_ingest(&c);
    return c;
}

// ---- calls and what they leave ----

static void write_inputs(const call *c, uint32_t at)
{
    char path[128];
    for (uint32_t i = 0; c->kind == INGEST && i < c->n_files; i++) {
        for (uint32_t j = 0; j < c->n_inputs[i]; j++) {
            const input *in = &inputs[c->inputs[i][j]];
            write_bytes(path_of(path, "input", at + i), in->bytes, in->len, j == 0 ? "wb" : "ab");
        }
    }
}

// Makes a call.
//   at: number of its first file of input
static agg_err run_call(agg_error *error, const call *c, uint32_t at)
{
    char target[128], paths[3][128], recipe_path[128];
    const char *files[3];
    for (uint32_t i = 0; i < c->n_files; i++)
        files[i] = c->kind == MERGE ? path_of(paths[i], "acc", c->merged[i])
                                    : path_of(paths[i], "input", at + i);
    path_of(target, "acc", c->target);
    if (c->kind == MERGE)
        return agg_merge_files(error, target, files, (int)c->n_files, (agg_rows){0, 0}, 0);
    const agg_ingest_options options = {.recipe = path_of(recipe_path, "recipe", 0),
                                        .output = target,
                                        .is_appending = c->is_appending,
                                        .skips_held = c->skips_held,
                                        .max_rejected = 0,
                                        .files = files,
                                        .n_files = (int)c->n_files,
                                        .n_threads = 1};
    return agg_ingest_files(error, &options);
}

static bool holds(const agg_accumulator *acc, uint32_t set)
{
    uint32_t cells[CELLS] = {0}, n = 0, n_inputs = 0;
    for (uint32_t i = 0; i < N_INPUTS; i++) {
        if ((set >> i & 1) == 0) continue;
        n_inputs++;
        n += inputs[i].n;
        for (uint32_t j = 0; j < CELLS; j++) cells[j] += inputs[i].cells[j];
    }
    return acc->n == n && acc->claims.n == n_inputs && acc->claims.is_complete &&
           memcmp(acc->parts[0].cells.ones, cells, sizeof cells) == 0;
}

// Returns: whether a file counts exactly this set; NONE: whether it is not there.
static bool file_holds(uint32_t file, uint32_t set)
{
    char path[128];
    agg_accumulator acc;
    agg_error error = {SHOAL_OK, 0, ""};
    path_of(path, "acc", file);
    if (set == NONE || access(path, F_OK) != 0) return set == NONE && access(path, F_OK) != 0;
    agg_err err = agg_accumulator_load(&acc, &error, path);
    if (err != SHOAL_OK) fail_msg("%s", error.text);
    bool is_right = holds(&acc, set);
    agg_accumulator_release(&acc);
    return is_right;
}

static void check_files(uint64_t sequence, const char *when)
{
    for (uint32_t i = 0; i < N_FILES; i++)
        if (!file_holds(i, counted[i]))
            fail_msg("sequence %llu: accumulator %u does not count %x after %s",
                     (unsigned long long)sequence, i, counted[i], when);
}

static void check_call(uint64_t sequence, const call *c)
{
    uint32_t after = NONE;
    agg_error error = {SHOAL_OK, 0, ""};
    bool may_succeed = predict(&after, c);
    agg_err err = run_call(&error, c, 0);
    if ((err == SHOAL_OK) != may_succeed || (err != SHOAL_OK && err != SHOAL_ERR_DUPLICATE))
        fail_msg("sequence %llu: %s of target %u: %d, %s", (unsigned long long)sequence,
                 c->kind == MERGE ? "merge" : "ingest", c->target, (int)err, error.text);
    if (may_succeed) counted[c->target] = after;
    if (!file_holds(c->target, counted[c->target]))
        fail_msg("sequence %llu: accumulator %u does not count %x", (unsigned long long)sequence,
                 c->target, counted[c->target]);
}

static pid_t fork_call(const call *c, uint32_t at)
{
    agg_error error;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child > 0) return child;
    is_child = true;
    _exit(run_call(&error, c, at) == SHOAL_OK ? 0 : 1);
}

static int wait_for(pid_t child)
{
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

// Makes a call that dies somewhere, and then again: the accumulator is as before or as after, and
// the second call makes it as after, or refuses since it is.
static void check_crash(uint64_t sequence, const call *c)
{
    uint32_t before = counted[c->target], after = NONE;
    if (!predict(&after, c)) return;
    crash_at = 1 + below(5);
    crashes_before = below(2) > 0;
    int code = wait_for(fork_call(c, 0));
    crash_at = 0;
    if (code != 0 && code != 99)
        fail_msg("sequence %llu: exit %d", (unsigned long long)sequence, code);
    if (code == 0 || !file_holds(c->target, before)) counted[c->target] = after;
    check_files(sequence, "a crash");
    check_call(sequence, c);
}

// Two calls that append to one accumulator at the same time: as if one came after the other.
static void check_both(uint64_t sequence)
{
    call two[2] = {draw_call(), draw_call()};
    uint32_t target = below(N_FILES), before = counted[target];
    for (uint32_t i = 0; i < 2; i++) {
        two[i] = (call){.target = target};
        draw_ingest(&two[i]);
        two[i].is_appending = true;
        write_inputs(&two[i], 3 * i);
    }
    pause_us = 200;
    pid_t children[2] = {fork_call(&two[0], 0), fork_call(&two[1], 3)};
    bool is_ok[2];
    for (uint32_t i = 0; i < 2; i++) is_ok[i] = wait_for(children[i]) == 0;
    pause_us = 0;
    for (uint32_t first = 0; first < 2; first++) {
        counted[target] = before;
        bool is_possible = true;
        for (uint32_t i = 0; i < 2 && is_possible; i++) {
            uint32_t which = first ^ i, after = NONE;
            bool may_succeed = predict(&after, &two[which]);
            is_possible = may_succeed == is_ok[which];
            if (may_succeed) counted[target] = after;
        }
        if (is_possible && file_holds(target, counted[target])) return;
    }
    fail_msg("sequence %llu: two at once: %d and %d, and no order explains the result",
             (unsigned long long)sequence, is_ok[0], is_ok[1]);
}

static void remove_files(void)
{
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        if (strncmp(entry->d_name, "acc", 3) == 0) unlinkat(dirfd(dir), entry->d_name, 0);
    closedir(dir);
    for (uint32_t i = 0; i < N_FILES; i++) counted[i] = NONE;
}

// Merges all accumulators, as whoever gathers shards does.
static void check_total(uint64_t sequence)
{
    call c = {.kind = MERGE, .target = 0};
    for (uint32_t i = 0; i < N_FILES && c.n_files < 3; i++)
        if (counted[i] != NONE) c.merged[c.n_files++] = i;
    if (c.n_files > 0) check_call(sequence, &c);
}

static void each_input_counts_once_or_not_at_all(void **state)
{
    const char *seed = getenv("SHOAL_SEED");
    uint64_t first = seed != NULL ? strtoull(seed, NULL, 10) : 17;
    (void)state;
    print_message("SHOAL_SEED=%llu\n", (unsigned long long)first);
    const uint32_t n_sequences = effort(10000, 1500, 400);
    for (uint64_t sequence = 0; sequence < n_sequences; sequence++) {
        state_of_chance = (first << 32) + sequence;
        remove_files();
        for (uint32_t step = 0; step < STEPS; step++) {
            call c = draw_call();
            write_inputs(&c, 0);
            if (sequence % 10 == 1 && step == STEPS / 2)
                check_crash(sequence, &c);
            else if (sequence % 20 == 2 && step == STEPS / 2)
                check_both(sequence);
            else
                check_call(sequence, &c);
        }
        check_total(sequence);
        check_files(sequence, "all");
    }
}

static int make_all(void **state)
{
    char path[128], text[1024];
    (void)state;
    snprintf(folder, sizeof folder, "%s/shoal-once-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(folder));
    onehot_text(text, 2, "\"size\":16", "");
    read_recipe(&recipe, text);
    write_bytes(path_of(path, "recipe", 0), (const uint8_t *)text, strlen(text), "wb");
    for (uint32_t i = 0; i < N_INPUTS; i++) make_input(i);
    return 0;
}

static int remove_all(void **state)
{
    (void)state;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;)
        unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir != NULL) closedir(dir);
    rmdir(folder);
    for (uint32_t i = 0; i < N_INPUTS; i++) free(inputs[i].bytes);
    agg_recipe_release(&recipe);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_input_counts_once_or_not_at_all)};
    return cmocka_run_group_tests(tests, make_all, remove_all);
}
