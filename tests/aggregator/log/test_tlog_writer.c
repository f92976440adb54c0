// SPDX-License-Identifier: Apache-2.0
// Property: an append that dies anywhere leaves a log that everyone can read, whose next append
// finishes it; what comes out is the log of an append that did not die, byte for byte; and no tile
// ever has two contents.
//
// The linker gives the functions that touch the disk other bodies (--wrap): a process dies before
// or after any of their calls.
#include "agg_test.h"

#include <dirent.h>
#include <ftw.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agg_file.h"
#include "tlog_folder.h"
#include "tlog_writer.h"

#define TODAY 20000u
#define FILES_MAX 256

// ---- the disk ----

static unsigned crash_at;   // the process dies at this call from now; 0: never
static bool crashes_before; // before the call, else after it

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __real_unlink(const char *path);
int __wrap_unlink(const char *path);
int __real_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode);
int __wrap_fsync(int fd);

static bool count_call(void)
{
    if (crash_at == 0 || --crash_at > 0) return false;
    if (crashes_before) _exit(99);
    return true;
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
    bool is_last = mode[0] == 'w' && count_call();
    FILE *stream = __real_fopen(path, mode);
    if (is_last) _exit(99);
    return stream;
}

int __wrap_rename(const char *from, const char *to)
{
    bool is_last = count_call();
    int result = __real_rename(from, to);
    if (is_last) _exit(99);
    return result;
}

int __wrap_unlink(const char *path)
{
    bool is_last = count_call();
    int result = __real_unlink(path);
    if (is_last) _exit(99);
    return result;
}

int __wrap_mkdir(const char *path, mode_t mode)
{
    bool is_last = count_call();
    int result = __real_mkdir(path, mode);
    if (is_last) _exit(99);
    return result;
}

// What was written before is in the file, since the process dies and not the machine.
int __wrap_fsync(int fd)
{
    (void)fd;
    return 0;
}

// ---- folders ----

static char *pem;
static size_t pem_len;
static char folder[64], other[64];

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *at)
{
    (void)status, (void)kind, (void)at;
    return remove(path);
}

static void clear(const char *path)
{
    (void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static char names[FILES_MAX][128]; // relative, sorted by nftw's order
static size_t n_names, root_len;

static int note_one(const char *path, const struct stat *status, int kind, struct FTW *at)
{
    (void)status, (void)at;
    if (kind != FTW_F || strstr(path, ".tmp-") != NULL) return 0; // what a death leaves of a write
    assert_true(n_names < FILES_MAX);
    snprintf(names[n_names++], sizeof names[0], "%s", path + root_len + 1);
    return 0;
}

static void list(const char *path)
{
    n_names = 0;
    root_len = strlen(path);
    assert_int_equal(nftw(path, note_one, 16, FTW_PHYS), 0);
}

static agg_bytes slurp(const char *where, const char *name)
{
    agg_tlog_source source = agg_tlog_folder(where);
    agg_bytes bytes;
    agg_error error;
    assert_ok(source.read(source.context, &bytes, &error, name, (size_t)1 << 24));
    return bytes;
}

// Checks that two folders have the same files.
static void assert_same(const char *a, const char *b)
{
    list(b);
    size_t n = n_names;
    list(a);
    assert_int_equal(n_names, n);
    for (size_t i = 0; i < n_names; i++) {
        agg_bytes x = slurp(a, names[i]), y = slurp(b, names[i]);
        assert_int_equal(x.len, y.len);
        assert_memory_equal(x.data, y.data, x.len);
        free(x.data);
        free(y.data);
    }
}

// ---- tiles that were seen ----

static struct {
    char name[128];
    agg_bytes bytes;
} seen[FILES_MAX];
static size_t n_seen;

// Notes every tile, and checks that none has another content than before.
static void watch_tiles(void)
{
    list(folder);
    for (size_t i = 0; i < n_names; i++) {
        size_t j = 0;
        if (strncmp(names[i], "tile/", 5) != 0) continue;
        agg_bytes bytes = slurp(folder, names[i]);
        while (j < n_seen && strcmp(seen[j].name, names[i]) != 0) j++;
        if (j < n_seen) {
            assert_int_equal(bytes.len, seen[j].bytes.len);
            assert_memory_equal(bytes.data, seen[j].bytes.data, bytes.len);
            free(bytes.data);
            continue;
        }
        assert_true(n_seen < FILES_MAX);
        strcpy(seen[n_seen].name, names[i]);
        seen[n_seen++].bytes = bytes;
    }
}

static void forget_tiles(void)
{
    while (n_seen > 0) free(seen[--n_seen].bytes.data);
}

// ---- appends ----

// Adds entries number `first` and `n - 1` more, and a key list.
static agg_err add(const char *where, uint32_t first, uint32_t n, uint32_t serial)
{
    static agg_tlog_writer w;
    static agg_tlog_entry keys;
    agg_error error = {.text = ""};
    uint64_t index = 0;
    bool is_new = false;
    agg_err err = agg_tlog_writer_open(&w, &error, where, pem, pem_len);
    for (uint32_t i = first; i < first + n && err == SHOAL_OK; i++) {
        uint8_t hash[32] = {(uint8_t)i, (uint8_t)(i >> 8)};
        err = agg_tlog_writer_add(&w, &index, &is_new, &error, AGG_TLOG_QUERY, hash, TODAY + i % 5);
    }
    keys = (agg_tlog_entry){
        .type = AGG_TLOG_KEYS, .serial = serial, .from = TODAY, .until = TODAY + serial};
    if (err == SHOAL_OK && serial > 0)
        err = agg_tlog_writer_add_keys(&w, &index, &is_new, &error, &keys, TODAY);
    if (err == SHOAL_OK) err = agg_tlog_writer_commit(&w, &error, TODAY);
    agg_tlog_writer_close(&w);
    if (err != SHOAL_OK) print_error("%s\n", error.text);
    return err;
}

static void create(const char *where)
{
    agg_tlog_key key;
    agg_error error;
    clear(where);
    assert_ok(agg_tlog_create(&key, &error, where, "example.org/log", pem, pem_len));
}

// Checks the log that a reader sees now, and that it has what `before` had.
static uint64_t check(const char *where, const agg_bytes *before)
{
    static agg_tlog log;
    agg_tlog_source source = agg_tlog_folder(where);
    agg_error error;
    assert_ok(agg_tlog_init(&log, &error));
    agg_err err = agg_tlog_load(&log, &error, &source, NULL);
    if (err == SHOAL_OK)
        err = agg_tlog_follows(&log, &error, (const char *)before->data, before->len, NULL);
    if (err != SHOAL_OK) fail_msg("%s", error.text);
    uint64_t size = log.head.size;
    agg_tlog_release(&log);
    return size;
}

// Runs an append in a process that dies at its call number `at`. Returns: whether it lived.
static bool add_and_die(uint32_t first, uint32_t n, uint32_t serial, unsigned at, bool before)
{
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        crash_at = at;
        crashes_before = before;
        _exit(add(folder, first, n, serial) == SHOAL_OK ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 99));
    return WEXITSTATUS(status) == 0;
}

// Kills an append to a log of `size` entries at every call.
//   other_follows: whether another append comes next, and the killed one again after it
static void kill_everywhere(uint32_t size, uint32_t n)
{
    create(other);
    assert_ok(add(other, 0, size, 1));
    assert_ok(add(other, size, n, 2));
    for (unsigned at = 1, is_over = 0; !is_over; at++)
        for (int before = 0; before < 2; before++) {
            create(folder);
            assert_ok(add(folder, 0, size, 1));
            agg_bytes head = slurp(folder, "checkpoint");
            watch_tiles();
            is_over = add_and_die(size, n, 2, at, before == 1);
            watch_tiles();
            uint64_t seen_size = check(folder, &head);
            assert_true(seen_size == size + 1 || seen_size == size + n + 2);
            assert_ok(add(folder, size, n, 2)); // the operator runs it again
            watch_tiles();
            assert_same(folder, other);
            free(head.data);
            forget_tiles();
        }
}

static void killed_small(void **state)
{
    (void)state;
    kill_everywhere(0, 1);
    kill_everywhere(3, 2);
}

static void killed_at_the_edge_of_a_tile(void **state)
{
    (void)state;
    if (effort_is_small()) skip();
    kill_everywhere(253, 3);
    if (effort_is_long()) kill_everywhere(255, 300);
}

// An append that was killed, and then another one: the first is finished, with its own entries.
static void killed_then_another(void **state)
{
    (void)state;
    for (unsigned at = 1, is_over = 0; !is_over; at++) {
        create(folder);
        assert_ok(add(folder, 0, 5, 1));
        agg_bytes head = slurp(folder, "checkpoint");
        watch_tiles();
        is_over = add_and_die(5, 2, 0, at, true);
        watch_tiles();
        assert_ok(add(folder, 100, 2, 0)); // as many, so that its tiles have the same names
        watch_tiles();
        uint64_t size = check(folder, &head);
        assert_true(size == 6 + 2 || size == 6 + 2 + 2); // the first may not have begun
        free(head.data);
        forget_tiles();
    }
}

static void repeated_appends_add_nothing(void **state)
{
    (void)state;
    create(folder);
    assert_ok(add(folder, 0, 7, 1));
    assert_ok(add(folder, 0, 7, 1));
    agg_bytes head = slurp(folder, "checkpoint");
    assert_int_equal(check(folder, &head), 8);
    free(head.data);
}

static void damaged_logs_are_not_appended_to(void **state)
{
    agg_error error;
    (void)state;
    create(folder);
    assert_ok(add(folder, 0, 7, 1));
    assert_ok(agg_tlog_folder_write(&error, folder, "tile/0/000.p/8", "x", 1));
    assert_err(add(folder, 7, 1, 2), SHOAL_ERR_TRUNCATED);
}

static int set_up(void **state)
{
    agg_error error;
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/shoal-tlog-%ld-a", (long)getpid());
    snprintf(other, sizeof other, "/tmp/shoal-tlog-%ld-b", (long)getpid());
    return agg_tlog_private_new(&pem, &pem_len, &error) != SHOAL_OK;
}

static int tear_down(void **state)
{
    (void)state;
    clear(folder);
    clear(other);
    free(pem);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_small),
        cmocka_unit_test(killed_at_the_edge_of_a_tile),
        cmocka_unit_test(killed_then_another),
        cmocka_unit_test(repeated_appends_add_nothing),
        cmocka_unit_test(damaged_logs_are_not_appended_to),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
