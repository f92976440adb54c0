// SPDX-License-Identifier: Apache-2.0
// The result that decoders fill: rows with copies of their values, and lines for people; see
// discover.h.
#include "discoverer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "normal_law.h"

agg_err agg_discovery_add(agg_discovery *d, agg_error *error, agg_text value, double count,
                          double stderr_, double score, const char *how)
{
    const char *before = d->pool;
    agg_err err = agg_grow((void **)&d->rows, &d->rows_cap, d->n_rows + 1, sizeof *d->rows, error);
    if (err == SHOAL_OK)
        err = agg_grow((void **)&d->pool, &d->pool_cap, d->pool_len + value.len + 1, 1, error);
    if (err != SHOAL_OK) return err;
    if (d->pool != before) { // the pool moved, and rows point into it
        size_t at = 0;
        for (size_t i = 0; i < d->n_rows; at += d->rows[i].value.len + 1, i++)
            d->rows[i].value.bytes = d->pool + at;
    }
    double z = -agg_normal_quantile((1 - d->confidence) / 2);
    agg_found *row = &d->rows[d->n_rows++];
    *row = (agg_found){.value = {d->pool + d->pool_len, value.len},
                       .count = count,
                       .stderr_ = stderr_,
                       .low = count - z * stderr_,
                       .high = count + z * stderr_,
                       .score = score};
    snprintf(row->how, sizeof row->how, "%s", how);
    memcpy(d->pool + d->pool_len, value.bytes, value.len);
    d->pool[d->pool_len + value.len] = '\0';
    d->pool_len += value.len + 1;
    return SHOAL_OK;
}

static void add_line(char lines[AGG_DISCOVERY_NOTES_MAX][AGG_DISCOVERY_NOTE_MAX], uint32_t *n,
                     const char *format, va_list arguments)
{
    if (*n == AGG_DISCOVERY_NOTES_MAX) {
        snprintf(lines[*n - 1], AGG_DISCOVERY_NOTE_MAX, "and more");
        return;
    }
    vsnprintf(lines[(*n)++], AGG_DISCOVERY_NOTE_MAX, format, arguments);
}

void agg_discovery_note(agg_discovery *discovery, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_line(discovery->notes, &discovery->n_notes, format, arguments);
    va_end(arguments);
}

void agg_discovery_cut(agg_discovery *discovery, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_line(discovery->cuts, &discovery->n_cuts, format, arguments);
    va_end(arguments);
}

void agg_discovery_note_nothing(agg_discovery *d, const char *by, double n, double share)
{
    if (d->n_rows + d->n_known + d->n_withheld > 0) return;
    d->found_from = share;
    if (share < 1)
        agg_discovery_note(d,
                           "nothing was found: with %.0f reports %s finds what %.2g %% or more "
                           "send, as often as not",
                           n, by, 100 * share);
    else
        agg_discovery_note(d, "nothing was found: with %.0f reports %s finds nothing", n, by);
}

void agg_discovery_release(agg_discovery *discovery)
{
    free(discovery->rows);
    free(discovery->pool);
    memset(discovery, 0, sizeof *discovery);
}
