// SPDX-License-Identifier: Apache-2.0
// Measurements from files; see dap_measurements.h.
#include "dap_measurements.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "bytes.h"

typedef struct measuring {
    const agg_dap_task *task;
    uint64_t *words;
    size_t n_words;
} measuring;

// Reads a whole number at *at and the blanks around it, and moves *at behind them.
static bool read_number(uint64_t *number, const char **at, const char *end)
{
    const char *p = *at;
    uint64_t n = 0;
    while (p < end && (*p == ' ' || *p == '\t')) p++;
    const char *first = p;
    for (; p < end && *p >= '0' && *p <= '9'; p++) {
        uint64_t digit = (uint64_t)(*p - '0');
        if (n > (UINT64_MAX - digit) / 10) return false;
        n = 10 * n + digit;
    }
    bool is_there = p > first;
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\r')) p++;
    *at = p;
    *number = n;
    return is_there;
}

// Returns: the largest number that an entry may be.
static uint64_t entry_max(const shoal_prio3_parameters *v)
{
    switch (v->circuit) {
    case SHOAL_CIRCUIT_SUM:
    case SHOAL_CIRCUIT_SUM_VEC: return v->max;
    case SHOAL_CIRCUIT_HISTOGRAM: return v->length - 1;
    case SHOAL_CIRCUIT_COUNT:
    case SHOAL_CIRCUIT_MULTIHOT_COUNT_VEC: break;
    }
    return 1;
}

// Fills `error` for a bad line. The text names the line, never its content.
static agg_err read_measurement(measuring *m, agg_error *error, const char *at, const char *end)
{
    const shoal_prio3_parameters *v = &m->task->task.vdaf;
    uint64_t weight = 0;
    for (size_t i = 0; i < m->n_words; i++) {
        if (i > 0 && (at == end || *at++ != ','))
            return agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_USAGE,
                            "is not %zu numbers between commas", m->n_words);
        if (!read_number(&m->words[i], &at, end))
            return agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_USAGE, "is not %zu whole numbers",
                            m->n_words);
        if (m->words[i] > entry_max(v))
            return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE, "has a number above %llu",
                            (unsigned long long)entry_max(v));
        weight += m->words[i];
    }
    if (at != end)
        return agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_USAGE, "has more than %zu numbers",
                        m->n_words);
    if (v->circuit == SHOAL_CIRCUIT_MULTIHOT_COUNT_VEC && weight > v->max)
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE, "has more than %llu ones",
                        (unsigned long long)v->max);
    return SHOAL_OK;
}

// Reads all lines. Without an uploader it only checks them, so that nothing is sent of a file that
// has a bad line.
static agg_err walk_lines(measuring *m, agg_dap_uploader *uploader, agg_error *error,
                          const agg_bytes *bytes)
{
    const char *at = (const char *)bytes->data, *end = at + bytes->len;
    for (unsigned long line = 1; at < end; line++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at)),
                   *stop = newline != NULL ? newline : end;
        agg_err err = read_measurement(m, error, at, stop);
        if (err != SHOAL_OK) {
            agg_error_prefix(error, "line %lu", line);
            return err;
        }
        if (uploader != NULL) err = agg_dap_upload_add(uploader, error, m->words);
        if (err != SHOAL_OK) return err;
        at = stop + (newline != NULL);
    }
    return uploader != NULL ? agg_dap_upload_flush(uploader, error) : SHOAL_OK;
}

static agg_err with_measurements(const agg_bytes *bytes, agg_dap_uploader *uploader,
                                 agg_error *error, const agg_dap_task *task)
{
    measuring m = {task, NULL, agg_dap_upload_words(task)};
    m.words = agg_alloc(error, m.n_words, sizeof *m.words);
    if (m.words == NULL) return AGG_ERR_MEMORY;
    agg_err err = walk_lines(&m, uploader, error, bytes);
    wipe(m.words, m.n_words * sizeof *m.words);
    free(m.words);
    return err;
}

agg_err agg_dap_measurements_check(const agg_bytes *bytes, agg_error *error,
                                   const agg_dap_task *task)
{
    return with_measurements(bytes, NULL, error, task);
}

agg_err agg_dap_measurements_upload(const agg_bytes *bytes, agg_dap_uploader *uploader,
                                    agg_error *error, const agg_dap_task *task)
{
    return with_measurements(bytes, uploader, error, task);
}
