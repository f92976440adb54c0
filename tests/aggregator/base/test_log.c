// SPDX-License-Identifier: Apache-2.0
// Lines of the log: each one whole, whoever else writes at the same time.
#include "agg_test.h"

#include <stdlib.h>
#include <unistd.h>

#include "agg_parallel.h"
#include "call_streams.h"
#include "log.h"

#define THREADS 4u
#define LINES 400u

static void write_lines(void *context, unsigned part, unsigned n_parts)
{
    (void)n_parts;
    char command[] = "serve", text[64];
    for (unsigned i = 0; i < LINES; i++) {
        if (i % 2 == 0) {
            snprintf(text, sizeof text, "thread %u\tline %u", part, i);
            agg_log_line(command, text);
        } else {
            agg_error error = {.code = SHOAL_ERR_RANGE, .exit_code = 1};
            snprintf(error.text, sizeof error.text, "thread %u\tline %u", part, i);
            assert_int_equal(agg_log_error(context, &error), 1);
        }
    }
}

// A control character makes one line several pieces, as a path or a name that somebody chose may.
static void lines_of_several_threads_stay_whole(void **state)
{
    (void)state;
    char path[] = "/tmp/shoal-log-XXXXXX", command[] = "serve", line[128];
    unsigned seen[THREADS] = {0}, n_lines = 0;
    int file = mkstemp(path), kept = dup(STDERR_FILENO);
    assert_true(file >= 0 && kept >= 0);
    assert_true(dup2(file, STDERR_FILENO) >= 0);
    agg_parallel(THREADS, write_lines, command);
    assert_true(dup2(kept, STDERR_FILENO) >= 0);
    close(kept);
    FILE *stream = fdopen(file, "r");
    assert_non_null(stream);
    rewind(stream);
    while (fgets(line, sizeof line, stream) != NULL) {
        unsigned thread = 0, number = 0;
        char expected[128];
        assert_int_equal(sscanf(line, "shoal: serve: thread %u%*[^l]line %u", &thread, &number), 2);
        assert_true(thread < THREADS);
        assert_int_equal(number, seen[thread]); // a thread's own lines keep their order
        snprintf(expected, sizeof expected, "line %u\n", number);
        assert_string_equal(strstr(line, "line "), expected);
        seen[thread]++;
        n_lines++;
    }
    assert_int_equal(n_lines, THREADS * LINES);
    fclose(stream);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_several_threads_stay_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
