// SPDX-License-Identifier: Apache-2.0
// Locks of files: one process at a time, also after one was killed and while the lock file goes.
#include "agg_test.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agg_file.h"
#include "file_lock.h"

#define PROCESSES 6
#define ROUNDS 200

static char path[64];

static uint64_t read_number(void)
{
    unsigned long long number = 0;
    FILE *stream = fopen(path, "rb");
    if (stream == NULL) return 0;
    assert_int_equal(fscanf(stream, "%llu", &number), 1);
    fclose(stream);
    return number;
}

// Adds one to the number in the file, which is replaced, as accumulators are.
static int add_one(void)
{
    char command[] = "test";
    agg_file_lock lock;
    agg_file file;
    agg_error error;
    if (agg_file_lock_take(&lock, &error, command, path) != SHOAL_OK) return 1;
    uint64_t number = read_number();
    if (agg_file_create(&file, &error, path) != SHOAL_OK) return 1;
    fprintf(file.stream, "%llu\n", (unsigned long long)number + 1);
    if (agg_file_commit(&file, &error) != SHOAL_OK) return 1;
    agg_file_lock_release(&lock);
    return 0;
}

static void no_process_loses_what_another_wrote(void **state)
{
    pid_t children[PROCESSES];
    (void)state;
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] > 0) continue;
        if (freopen("/dev/null", "w", stderr) == NULL) _exit(1);
        for (int j = 0; j < ROUNDS; j++)
            if (add_one() != 0) _exit(1);
        _exit(0);
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = 0;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    assert_int_equal(read_number(), PROCESSES * ROUNDS);
    remove(path);
}

static void a_killed_process_leaves_no_lock(void **state)
{
    char command[] = "test", lock_path[80];
    agg_file_lock lock;
    agg_error error;
    int ready[2];
    char byte = 0;
    (void)state;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        alarm(60); // ends with the test, whatever that finds
        bool is_ok = agg_file_lock_take(&lock, &error, command, path) == SHOAL_OK;
        if (write(ready[1], is_ok ? "y" : "n", 1) != 1) _exit(1);
        for (;;) pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    snprintf(lock_path, sizeof lock_path, "%s.lock", path);
    assert_int_equal(access(lock_path, F_OK), 0);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_int_equal(access(lock_path, F_OK), 0);
    alarm(20);
    assert_ok(agg_file_lock_take(&lock, &error, command, path));
    alarm(0);
    agg_file_lock_release(&lock);
    assert_int_not_equal(access(lock_path, F_OK), 0);
    close(ready[0]);
    close(ready[1]);
}

static void what_is_not_replaced_needs_no_lock(void **state)
{
    static const char *const paths[] = {"-", "/dev/null", "/tmp"};
    char command[] = "test";
    agg_file_lock lock;
    agg_error error;
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        assert_ok(agg_file_lock_take(&lock, &error, command, paths[i]));
        assert_int_equal(lock.fd, -1);
        agg_file_lock_release(&lock);
    }
    assert_err(agg_file_lock_take(&lock, &error, command, "/nowhere/at/all"), AGG_ERR_IO);
    assert_int_equal(error.exit_code, AGG_EXIT_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_process_loses_what_another_wrote),
                                       cmocka_unit_test(a_killed_process_leaves_no_lock),
                                       cmocka_unit_test(what_is_not_replaced_needs_no_lock)};
    snprintf(path, sizeof path, "/tmp/shoal-test-lock-%ld", (long)getpid());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
