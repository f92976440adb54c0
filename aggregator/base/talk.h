// SPDX-License-Identifier: Apache-2.0
// What a command says on standard error. Results go to standard output and nowhere else.
#ifndef TALK_H
#define TALK_H

#include <stdint.h>

#include "agg_error.h"

// Says "shoal: COMMAND: text", with control characters escaped; an agg_talk whose context is the
// command's name.
void cli_talk(void *command, const char *text);

// Says an error. Returns: its exit code, for `return cli_failed(...)`.
int cli_failed(const char *command, const agg_error *error);

// A progress line with the time left. Silent unless standard error is a terminal.
typedef struct cli_progress {
    const char *command, *unit;
    uint64_t total; // 0: unknown
    double started, shown;
    int is_shown;
} cli_progress;

void cli_progress_start(cli_progress *progress, const char *command, const char *unit,
                        uint64_t total);
void cli_progress_show(void *progress, uint64_t done);
void cli_progress_end(cli_progress *progress);

#endif
