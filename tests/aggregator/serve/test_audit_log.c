// SPDX-License-Identifier: Apache-2.0
// The audit log: every change of a file is named; a write that is cut off anywhere is noted at the
// next start and hides nothing; kills lose no line that was acknowledged; a full disk is an error.
#include "agg_test.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit_check.h"
#include "audit_files.h"
#include "audit_line.h"
#include "audit_log.h"

static char folder[64];

static void path_of(char out[128], const char *name)
{
    snprintf(out, 128, "%s/%s", folder, name);
}

static int make_folder(void **state)
{
    (void)state;
    struct stat about; // in memory where there is a place: the tests sync thousands of times
    bool has_memory = stat("/dev/shm", &about) == 0 && S_ISDIR(about.st_mode);
    snprintf(folder, sizeof folder, "%s/shoal-audit-XXXXXX", has_memory ? "/dev/shm" : "/tmp");
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    (void)state;
    char path[512];
    DIR *listing = opendir(folder);
    for (struct dirent *entry; listing != NULL && (entry = readdir(listing)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        (void)unlink(path);
    }
    if (listing != NULL) closedir(listing);
    return rmdir(folder);
}

static agg_audit_log *open_log(uint64_t rotate_bytes)
{
    agg_audit_log *log = NULL;
    agg_error error;
    if (agg_audit_log_open(&log, &error, folder, rotate_bytes) != SHOAL_OK)
        fail_msg("%s", error.text);
    return log;
}

static agg_audit_entry entry_of(unsigned i)
{
    agg_audit_entry entry = {.who = "alice",
                             .via = "bearer",
                             .what = "result",
                             .status = i % 3 == 0 ? 403 : 200,
                             .top = i};
    snprintf(entry.collection, sizeof entry.collection, "words-%u", i);
    snprintf(entry.span, sizeof entry.span, "2026-11-21");
    return entry;
}

static void append(agg_audit_log *log, unsigned n)
{
    agg_error error;
    for (unsigned i = 0; i < n; i++) {
        agg_audit_entry entry = entry_of(i);
        assert_ok(agg_audit_log_append(log, &error, &entry));
    }
}

static agg_err verify(agg_audit_report *report, agg_error *error, const uint8_t *wanted)
{
    const char *const paths[] = {folder};
    return agg_audit_check(report, error, paths, 1, wanted);
}

static void must_hold(agg_audit_report *report)
{
    agg_error error;
    if (verify(report, &error, NULL) != SHOAL_OK) fail_msg("%s", error.text);
}

static void must_break(const char *text)
{
    agg_audit_report report;
    agg_error error = {0};
    assert_err(verify(&report, &error, NULL), SHOAL_ERR_CHECKSUM);
    if (strstr(error.text, text) == NULL) fail_msg("'%s' is not in '%s'", text, error.text);
}

static char *read_file(size_t *len, const char *name)
{
    char path[128];
    path_of(path, name);
    return read_test_file(len, path);
}

static void write_file(const char *name, const char *bytes, size_t len)
{
    char path[128];
    path_of(path, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    fclose(file);
}

static void lines_say_what_was_asked(void **state)
{
    (void)state;
    size_t len;
    agg_audit_report report;
    agg_audit_log *log = open_log(1 << 20);
    agg_error error;
    agg_audit_entry entry = entry_of(4);
    snprintf(entry.collection, sizeof entry.collection, "a\"b\\\n\xc3\xa9<");
    snprintf(entry.blocks, sizeof entry.blocks, "17-19");
    assert_ok(agg_audit_log_append(log, &error, &entry));
    assert_int_equal(agg_audit_log_lines(log), 2);
    agg_audit_log_close(log);
    char *text = read_file(&len, "000001.jsonl");
    assert_non_null(strstr(text, "{\"seq\":1,\"time\":\"20"));
    assert_non_null(strstr(text, "\"what\":\"begin\",\"version\":1,\"previous\":\"0000000000"));
    assert_non_null(strstr(text, "Z\",\"what\":\"result\",\"who\":\"alice\",\"via\":\"bearer\","
                                 "\"collection\":\"a\\u0022b\\u005c\\u000a\\u00c3\\u00a9<\","
                                 "\"span\":\"2026-11-21\",\"top\":4,\"blocks\":\"17-19\","
                                 "\"status\":200,\"outcome\":\"answered\",\"hash\":\""));
    free(text);
    struct stat about;
    char path[128];
    path_of(path, "000001.jsonl");
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    must_hold(&report);
    assert_int_equal(report.lines, 2);
}

// Every text at its longest, each byte escaped: the line is whole.
static void the_longest_entry_fits(void **state)
{
    (void)state;
    agg_audit_report report;
    agg_error error;
    agg_audit_log *log = open_log(1 << 20);
    agg_audit_entry entry = {
        .who = "reader", .via = "session", .what = "result", .top = SIZE_MAX, .status = 999};
    memset(entry.collection, '"', sizeof entry.collection - 1);
    memset(entry.dictionary, '\x01', sizeof entry.dictionary - 1);
    memset(entry.span, '\xff', sizeof entry.span - 1);
    memset(entry.blocks, '\\', sizeof entry.blocks - 1);
    assert_ok(agg_audit_log_append(log, &error, &entry));
    agg_audit_log_close(log);
    must_hold(&report);
    assert_int_equal(report.lines, 2);
    size_t len;
    char *text = read_file(&len, "000001.jsonl");
    assert_non_null(strstr(text, "\"outcome\":\"refused\",\"hash\":\""));
    free(text);
}

// Flips every bit of a log of eight lines. Only in the last three bytes can a flip pass for a write
// that was cut off, which is said; a kept head shows that the line is gone.
static void every_flip_is_named(void **state)
{
    (void)state;
    size_t len;
    agg_audit_report whole;
    agg_audit_log *log = open_log(1 << 20);
    append(log, 7);
    agg_audit_log_close(log);
    must_hold(&whole);
    char *text = read_file(&len, "000001.jsonl");
    for (size_t bit = 0; bit < 8 * len; bit++) {
        agg_audit_report report;
        agg_error error = {0};
        text[bit / 8] ^= (char)(1 << bit % 8);
        write_file("000001.jsonl", text, len);
        agg_err err = verify(&report, &error, NULL);
        if (bit / 8 < len - 3) {
            char line[32];
            size_t number = 1;
            for (size_t i = 0; i < bit / 8; i++) number += text[i] == '\n';
            snprintf(line, sizeof line, ": line %zu: ", number);
            if (err != SHOAL_ERR_CHECKSUM || strstr(error.text, line) == NULL)
                fail_msg("bit %zu: %u '%s'", bit, err, error.text);
        } else if (err == SHOAL_OK) {
            assert_true(report.tail > 0);
            assert_ok(verify(&report, &error, whole.head));
            assert_false(report.is_found);
        }
        text[bit / 8] ^= (char)(1 << bit % 8);
    }
    free(text);
}

// Writes the file anew from lines in another order; -1 leaves a line out.
static void reorder(const char *text, size_t len, const int *order, size_t n)
{
    const char *lines[16] = {text};
    size_t n_lines = 1, at = 0;
    char made[16384];
    for (size_t i = 0; i + 1 < len; i++)
        if (text[i] == '\n') lines[n_lines++] = text + i + 1;
    lines[n_lines] = text + len;
    for (size_t i = 0; i < n; i++) {
        size_t size = (size_t)(lines[order[i] + 1] - lines[order[i]]);
        memcpy(made + at, lines[order[i]], size);
        at += size;
    }
    write_file("000001.jsonl", made, at);
}

static void removed_moved_and_repeated_lines_are_named(void **state)
{
    (void)state;
    size_t len;
    agg_audit_report whole, report;
    agg_error error;
    agg_audit_log *log = open_log(1 << 20);
    append(log, 4);
    agg_audit_log_close(log);
    must_hold(&whole);
    char *text = read_file(&len, "000001.jsonl");
    reorder(text, len, (const int[]){0, 1, 3, 4}, 4);
    must_break("line 3: its number does not follow");
    reorder(text, len, (const int[]){0, 2, 1, 3, 4}, 5);
    must_break("line 2: its number does not follow");
    reorder(text, len, (const int[]){0, 1, 1, 2, 3, 4}, 6);
    must_break("line 3: its number does not follow");
    reorder(text, len, (const int[]){1, 2, 3, 4}, 4);
    must_break("line 1: it does not name the file before it");
    // The end can be cut off unseen, but not from whoever kept a hash.
    reorder(text, len, (const int[]){0, 1, 2}, 3);
    must_hold(&report);
    assert_ok(verify(&report, &error, whole.head));
    assert_false(report.is_found);
    reorder(text, len, (const int[]){0, 1, 2, 3, 4}, 5);
    assert_ok(verify(&report, &error, whole.head));
    assert_true(report.is_found);
    assert_int_equal(report.found_line, 5);
    assert_int_equal(report.lines_after, 0);
    free(text);
}

static void files_follow_each_other(void **state)
{
    (void)state;
    char path[128], other[128];
    agg_audit_report report;
    agg_error error;
    agg_audit_log *log = open_log(AGG_AUDIT_ROTATE_MIN);
    append(log, 30);
    uint64_t lines = agg_audit_log_lines(log);
    agg_audit_log_close(log);
    log = open_log(AGG_AUDIT_ROTATE_MIN); // and on after a restart
    append(log, 30);
    agg_audit_log_close(log);
    must_hold(&report);
    assert_true(report.files >= 4);
    assert_int_equal(report.lines, 60 + report.files);
    assert_true(lines > 30 && lines < report.lines);
    assert_string_equal(report.before, "");
    path_of(path, "000003.jsonl");
    path_of(other, "hidden");
    const char *const last[] = {path};
    assert_ok(agg_audit_check(&report, &error, last, 1, NULL));
    assert_string_equal(report.before, "000002.jsonl"); // said where only the end is given
    assert_int_equal(rename(path, other), 0);
    assert_err(verify(&report, &error, NULL), AGG_ERR_IO); // a number is missing
    char first[128], fourth[128];
    path_of(first, "000001.jsonl");
    path_of(fourth, "000004.jsonl");
    const char *const gap[] = {first, fourth};
    assert_err(agg_audit_check(&report, &error, gap, 2, NULL), SHOAL_ERR_CHECKSUM);
    assert_non_null(strstr(error.text, "000004.jsonl: line 1: it does not continue"));
}

// Cuts the last line off at every byte. The next start notes the piece; the lines before and after
// it hold, and the piece itself can no longer be changed.
static void a_write_cut_off_anywhere_is_noted(void **state)
{
    (void)state;
    size_t len, kept = 0;
    agg_audit_report report;
    agg_audit_log *log = open_log(1 << 20);
    append(log, 3);
    agg_audit_log_close(log);
    char *text = read_file(&len, "000001.jsonl");
    for (size_t i = 0; i + 1 < len; i++)
        if (text[i] == '\n') kept = i + 1;
    for (size_t cut = kept; cut < len; cut++) {
        bool is_whole = cut == len - 1; // a line that lacks nothing but its newline is a line
        unsigned torn = cut > kept && !is_whole;
        write_file("000001.jsonl", text, cut);
        must_hold(&report);
        assert_int_equal(report.tail, torn ? cut - kept : 0);
        log = open_log(1 << 20);
        append(log, 1);
        agg_audit_log_close(log);
        must_hold(&report);
        assert_int_equal(report.tail, 0);
        assert_int_equal(report.torn, torn);
        assert_int_equal(report.lines, 3 + torn + is_whole + 1);
        if (cut == kept) continue;
        size_t after;
        char *noted = read_file(&after, "000001.jsonl");
        noted[cut - 1] ^= 1;
        write_file("000001.jsonl", noted, after);
        must_break(": line 4: ");
        free(noted);
    }
    // A start that was cut off while it noted a piece leaves a longer piece.
    char *twice = malloc(2 * len);
    assert_non_null(twice);
    memcpy(twice, text, len - 20);
    memcpy(twice + len - 20, "\n{\"seq\":4,\"time\":", 17);
    write_file("000001.jsonl", twice, len - 3);
    log = open_log(1 << 20);
    append(log, 2);
    agg_audit_log_close(log);
    must_hold(&report);
    assert_int_equal(report.torn, 1);
    free(twice);
    free(text);
}

static void a_broken_log_is_not_continued(void **state)
{
    (void)state;
    size_t len;
    agg_error error = {0};
    agg_audit_log *log = open_log(1 << 20);
    append(log, 3);
    agg_audit_log_close(log);
    char *text = read_file(&len, "000001.jsonl");
    text[len / 2] ^= 1;
    write_file("000001.jsonl", text, len);
    assert_err(agg_audit_log_open(&log, &error, folder, 1 << 20), SHOAL_ERR_CHECKSUM);
    assert_non_null(strstr(error.text, "000001.jsonl: line "));
    free(text);
}

static void one_process_at_a_time(void **state)
{
    (void)state;
    agg_error error = {0};
    agg_audit_log *other, *log = open_log(1 << 20);
    assert_err(agg_audit_log_open(&other, &error, folder, 1 << 20), AGG_ERR_IO);
    assert_non_null(strstr(error.text, "another process"));
    agg_audit_log_close(log);
}

typedef struct waiting {
    agg_audit_entry entry;
    pthread_mutex_t *mutex;
    pthread_cond_t *wake;
    unsigned *n_done, *n_written;
} waiting;

static void note_done(void *context, bool is_written)
{
    waiting *w = context;
    pthread_mutex_lock(w->mutex);
    ++*w->n_done;
    *w->n_written += is_written;
    pthread_cond_signal(w->wake);
    pthread_mutex_unlock(w->mutex);
}

// Submits n entries at once and waits for them. Returns: how many were written.
static unsigned submit(agg_audit_log *log, unsigned n)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
    unsigned n_done = 0, n_written = 0;
    waiting *list = calloc(n, sizeof *list);
    assert_non_null(list);
    for (unsigned i = 0; i < n; i++) {
        list[i] = (waiting){entry_of(i), &mutex, &wake, &n_done, &n_written};
        list[i].entry.done = note_done;
        list[i].entry.context = &list[i];
        assert_true(agg_audit_log_submit(log, &list[i].entry));
    }
    pthread_mutex_lock(&mutex);
    while (n_done < n) pthread_cond_wait(&wake, &mutex);
    pthread_mutex_unlock(&mutex);
    free(list);
    return n_written;
}

static void entries_that_wait_are_all_written(void **state)
{
    (void)state;
    agg_error error;
    agg_audit_report report;
    agg_audit_log *log = open_log(1 << 16);
    assert_ok(agg_audit_log_start(log, &error));
    assert_int_equal(submit(log, 1000), 1000);
    for (int i = 0; i < 500; i++) agg_audit_log_count_stranger(log);
    assert_int_equal(submit(log, 3), 3);
    agg_audit_log_stop(log);
    waiting late = {.entry = entry_of(1)};
    assert_false(agg_audit_log_submit(log, &late.entry));
    agg_audit_log_close(log);
    must_hold(&report);
    // 500 strangers are two lines: the first of them at once, the others when the log ended.
    assert_true(report.lines >= 1003 + report.files + 1 && report.lines <= 1003 + report.files + 2);
}

// A file that cannot grow: nothing is called written, the log stays whole, and goes on afterwards.
static void a_full_disk_refuses_and_recovers(void **state)
{
    (void)state;
    agg_error error;
    agg_audit_report report;
    struct rlimit before, small;
    agg_audit_log *log = open_log(1 << 20);
    assert_ok(agg_audit_log_start(log, &error));
    assert_int_equal(submit(log, 5), 5);
    must_hold(&report);
    uint64_t lines = report.lines;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    struct stat about;
    char path[128];
    path_of(path, "000001.jsonl");
    assert_int_equal(stat(path, &about), 0);
    small = before;
    small.rlim_cur = (rlim_t)about.st_size + 100; // a piece of a line fits
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    unsigned written = submit(log, 3);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(written, 0);
    must_hold(&report);
    assert_int_equal(report.lines, lines);
    assert_int_equal(report.tail, 0);
    assert_int_equal(submit(log, 4), 4);
    agg_audit_log_stop(log);
    agg_audit_log_close(log);
    must_hold(&report);
    assert_int_equal(report.lines, lines + 4);
    assert_int_equal(report.torn, 0);
}

// Kills a process that writes, many times. Every line that was acknowledged is there, and the chain
// holds from the first line to the last.
static void kills_lose_nothing_that_was_acknowledged(void **state)
{
    (void)state;
    agg_audit_report report;
    atomic_uint *acknowledged =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(acknowledged != MAP_FAILED);
    for (int round = 0; round < 20; round++) {
        pid_t child = fork();
        if (child == 0) {
            agg_error error;
            agg_audit_log *log;
            if (agg_audit_log_open(&log, &error, folder, AGG_AUDIT_ROTATE_MIN) != SHOAL_OK)
                _exit(1);
            for (unsigned i = 0;; i++) {
                agg_audit_entry entry = entry_of(i);
                if (agg_audit_log_append(log, &error, &entry) != SHOAL_OK) _exit(2);
                atomic_fetch_add(acknowledged, 1);
            }
        }
        assert_true(child > 0);
        usleep(3000 + (useconds_t)round * 700);
        kill(child, SIGKILL);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
    }
    agg_audit_log_close(open_log(AGG_AUDIT_ROTATE_MIN)); // notes what the last kill cut off
    must_hold(&report);
    unsigned n = atomic_load(acknowledged);
    assert_true(n > 20);
    // At most the line that was under way at each kill is there without an acknowledgement.
    assert_true(report.lines >= n + report.files + report.torn);
    assert_true(report.lines <= n + report.files + report.torn + 20);
    munmap(acknowledged, 4096);
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(lines_say_what_was_asked),
        IN_FOLDER(the_longest_entry_fits),
        IN_FOLDER(every_flip_is_named),
        IN_FOLDER(removed_moved_and_repeated_lines_are_named),
        IN_FOLDER(files_follow_each_other),
        IN_FOLDER(a_write_cut_off_anywhere_is_noted),
        IN_FOLDER(a_broken_log_is_not_continued),
        IN_FOLDER(one_process_at_a_time),
        IN_FOLDER(entries_that_wait_are_all_written),
        IN_FOLDER(a_full_disk_refuses_and_recovers),
        IN_FOLDER(kills_lose_nothing_that_was_acknowledged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
