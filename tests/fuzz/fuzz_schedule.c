// SPDX-License-Identifier: Apache-2.0
// Property: a schedule of queries either is refused with a text that names it, or has 1 to 64 kinds
// of figures in their ranges, which printed in full are read back the same.
#include <string.h>

#include "fuzz.h"
#include "schedule.h"

#define LINE_MAX_BYTES 80

static shoal_err parse(agg_query *schedule, size_t *n, agg_error *error, const void *bytes,
                       size_t len)
{
    char *text = malloc(len + 1); // of exact length: parsing changes it
    PROPERTY(text != NULL);
    memcpy(text, bytes, len);
    text[len] = '\0';
    shoal_err err = agg_schedule_parse(schedule, n, error, "input", text, len);
    free(text);
    return err;
}

static void check_ranges(const agg_query *schedule, size_t n)
{
    PROPERTY(n >= 1 && n <= AGG_SCHEDULE_MAX);
    for (const agg_query *q = schedule; q < schedule + n; q++) {
        PROPERTY(q->local_epsilon >= AGG_LOCAL_EPSILON_MIN &&
                 q->local_epsilon <= AGG_LOCAL_EPSILON_MAX);
        PROPERTY(q->n >= 2 && q->n <= AGG_CROWD_REPORTS_MAX && q->n == (double)(uint64_t)q->n);
        PROPERTY(q->count >= 1 && q->count <= AGG_SCHEDULE_QUERIES_MAX &&
                 q->count == (double)(uint64_t)q->count);
        PROPERTY(q->bit_epsilon == 0);
    }
}

static void check_round_trip(const agg_query *schedule, size_t n)
{
    char text[AGG_SCHEDULE_MAX * LINE_MAX_BYTES], *at = text;
    agg_query again[AGG_SCHEDULE_MAX];
    agg_error error = {0};
    size_t n_again = 0;
    for (size_t i = 0; i < n; i++)
        at += snprintf(at, LINE_MAX_BYTES, "%.17g\t%.0f %.0f\r\n", schedule[i].local_epsilon,
                       schedule[i].n, schedule[i].count);
    PROPERTY(parse(again, &n_again, &error, text, (size_t)(at - text)) == SHOAL_OK && n_again == n);
    for (size_t i = 0; i < n; i++)
        PROPERTY(again[i].local_epsilon == schedule[i].local_epsilon &&
                 again[i].n == schedule[i].n && again[i].count == schedule[i].count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    agg_query schedule[AGG_SCHEDULE_MAX];
    agg_error error = {0};
    size_t n = 0;
    if (parse(schedule, &n, &error, data, len) != SHOAL_OK) {
        PROPERTY(strncmp(error.text, "input: ", 7) == 0 && error.exit_code == AGG_EXIT_USAGE);
        return 0;
    }
    PROPERTY(len == 0 || memchr(data, 0, len) == NULL); // nothing after a NUL is left unread
    check_ranges(schedule, n);
    check_round_trip(schedule, n);
    return 0;
}
