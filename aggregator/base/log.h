// SPDX-License-Identifier: Apache-2.0
// The log of a command: lines and a progress display on standard error. Results go to standard
// output only. In a call of libshoal_aggregate the lines go to the call's own log, and no progress
// is shown (call_streams.h).
#ifndef LOG_H
#define LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "agg_error.h"

// Receives one line of a log.
//   context: whatever the owner of the function needs
//   text: without a newline; never a report or a value from one
typedef void (*agg_log_fn)(void *context, const char *text);

#define AGG_LOG_LINES_MAX                                                                          \
    10 // warnings of one kind that are logged one by one; the rest are counted

// Prints "shoal: COMMAND: text" on standard error, control characters escaped; an agg_log_fn.
//   command: the command's name, a string
void agg_log_line(void *command, const char *text);

// Prints an error as agg_log_line does, and after a usage error how to get help.
// Returns: the error's exit code, for `return agg_log_error(...)`.
int agg_log_error(const char *command, const agg_error *error);

// A line with the progress of a long run and the time left. It stays silent unless standard error
// is a terminal.
typedef struct agg_progress {
    const char *command, *unit;
    uint64_t total;        // in `unit`; 0 if unknown, and then no time left is shown
    double started, shown; // seconds on the monotonic clock; 0 if the display is silent
    bool is_shown;
} agg_progress;

void agg_progress_start(agg_progress *progress, const char *command, const char *unit,
                        uint64_t total);

// Shows how much is done, at most five times a second.
//   progress: an agg_progress; a void pointer, so that it fits the callbacks of long runs
void agg_progress_show(void *progress, uint64_t done);

// Clears the line.
void agg_progress_end(agg_progress *progress);

#endif
