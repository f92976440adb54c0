// SPDX-License-Identifier: Apache-2.0
// Lines and progress on standard error; see log.h.
#include "log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "call_streams.h"
#include "print_text.h"

// Gives "COMMAND: text" to the log of a call of the library. Without memory the line is dropped.
static void tell_call(const agg_call *call, const char *command, const char *text)
{
    char *line = NULL;
    size_t len = 0;
    FILE *stream = call->log != NULL ? open_memstream(&line, &len) : NULL;
    if (stream == NULL) return;
    fprintf(stream, "%s: ", command);
    agg_print_terminal_text(stream, text, strlen(text));
    if (fclose(stream) == 0) call->log(call->log_context, line);
    free(line);
}

static void print_line(FILE *stream, const char *command, const char *text)
{
    fprintf(stream, "shoal: %s: ", command);
    agg_print_terminal_text(stream, text, strlen(text));
    fputc('\n', stream);
}

// Writes the whole line at once: standard error has no buffer, and the threads of a server write to
// it at the same time. Without memory the line is written in pieces.
static void tell_stderr(const char *command, const char *text)
{
    char *line = NULL;
    size_t len = 0;
    FILE *stream = open_memstream(&line, &len);
    if (stream == NULL) {
        print_line(stderr, command, text);
        return;
    }
    print_line(stream, command, text);
    if (fclose(stream) == 0)
        fwrite(line, 1, len, stderr);
    else
        print_line(stderr, command, text);
    free(line);
}

void agg_log_line(void *command, const char *text)
{
    const agg_call *call = agg_call_current();
    if (call != NULL)
        tell_call(call, command, text);
    else
        tell_stderr(command, text);
}

int agg_log_error(const char *command, const agg_error *error)
{
    agg_call *call = agg_call_current();
    if (call != NULL) {
        call->last = *error;
        tell_call(call, command, error->text);
        return error->exit_code;
    }
    tell_stderr(command, error->text);
    if (error->code == AGG_ERR_USAGE) fprintf(stderr, "Try: shoal %s --help\n", command);
    return error->exit_code;
}

static double now(void)
{
    struct timespec t = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void agg_progress_start(agg_progress *progress, const char *command, const char *unit,
                        uint64_t total)
{
    bool is_seen = agg_call_current() == NULL && isatty(STDERR_FILENO);
    double started = is_seen ? now() : 0;
    *progress = (agg_progress){command, unit, total, started, started, false};
}

void agg_progress_show(void *context, uint64_t done)
{
    agg_progress *p = context;
    if (p->started <= 0) return;
    double t = now(), spent = t - p->started;
    if (t - p->shown < 0.2) return;
    p->shown = t;
    p->is_shown = true;
    fprintf(stderr, "\rshoal: %s: %llu %s", p->command, (unsigned long long)done, p->unit);
    if (p->total > 0 && done > 0)
        fprintf(stderr, ", %.0f %%, %.0f s left", 100.0 * (double)done / (double)p->total,
                spent * (double)(p->total - done) / (double)done);
    fputs("\033[K", stderr);
}

void agg_progress_end(agg_progress *progress)
{
    if (progress->is_shown) fputs("\r\033[K", stderr);
}
