// SPDX-License-Identifier: Apache-2.0
// Lines and progress on standard error; see log.h.
#include "log.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "print_text.h"

void agg_log_line(void *command, const char *text)
{
    fprintf(stderr, "shoal: %s: ", (const char *)command);
    agg_print_terminal_text(stderr, text, strlen(text));
    fputc('\n', stderr);
}

int agg_log_error(const char *command, const agg_error *error)
{
    fprintf(stderr, "shoal: %s: ", command);
    agg_print_terminal_text(stderr, error->text, strlen(error->text));
    fputc('\n', stderr);
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
    double started = isatty(STDERR_FILENO) ? now() : 0;
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
