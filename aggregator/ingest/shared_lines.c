// SPDX-License-Identifier: Apache-2.0
// NDJSON reports on several threads; see shared_lines.h.
#include "shared_lines.h"

#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "record.h"

// The smallest share at the end of a span.
#define SHARE_BYTES_LAST ((size_t)1 << 19)

// Bytes [start, end) of the window, whole lines, of which a thread has read those before `stop`.
typedef struct line_share {
    size_t start, stop, end;
    uint8_t *records;
    uint32_t count;
} line_share;

typedef struct line_shares {
    const agg_report_frame *frame;
    const agg_read_window *window;
    uint32_t room; // records of a share
    unsigned n;
    line_share at[AGG_THREADS_MAX];
    uint8_t *records;     // `room` for each thread
    agg_read_queue queue; // of shares, where threads give them out
} line_shares;

static void read_share(line_shares *shares, line_share *share, uint8_t *records)
{
    const uint8_t *bytes = shares->window->bytes, *at = bytes + share->start;
    share->records = records;
    share->count =
        agg_line_reader_framed(records, shares->room, shares->frame, &at, bytes + share->end);
    share->stop = (size_t)(at - bytes);
    // Each thread drops the pages that it has read: for one thread alone that takes long.
    agg_mapped_file_drop(&shares->window->mapped, share->start, share->stop);
}

static uint8_t *records_of(const line_shares *shares, unsigned part)
{
    return shares->records +
           (size_t)part * shares->room * shoal_record_size(shares->frame->text.recipe);
}

static void read_own(void *context, unsigned part, unsigned n_parts)
{
    line_shares *shares = context;
    (void)n_parts;
    read_share(shares, &shares->at[part], records_of(shares, part));
}

// Takes shares from the queue, reads them and gives their records out.
static void read_next(void *context, unsigned part, unsigned n_parts)
{
    line_shares *shares = context;
    (void)n_parts;
    for (uint32_t i, end; agg_read_queue_take(&i, &end, &shares->queue);) {
        read_share(shares, &shares->at[i], records_of(shares, part));
        const agg_run run = {NULL, shares->at[i].records, shares->at[i].count, 0};
        if (run.count > 0 && agg_read_queue_give(&shares->queue, part, &run) != SHOAL_OK) return;
    }
}

// Cuts a share of about `most` bytes at the end of a line. Returns: where the next share begins.
static size_t cut_share(line_shares *shares, const agg_read_window *w, size_t at, size_t most)
{
    line_share *share = &shares->at[shares->n];
    const uint8_t *newline =
        w->end - at > most ? memchr(w->bytes + at + most, '\n', w->end - at - most) : NULL;
    share->start = at;
    share->end = newline != NULL ? (size_t)(newline - w->bytes) + 1 : w->end;
    return share->end;
}

// Cuts the next n shares, one for each thread.
static void cut_shares(line_shares *shares, const agg_read_window *w, unsigned n, size_t most)
{
    size_t at = w->start;
    for (shares->n = 0; shares->n < n && at < w->end; shares->n++)
        at = cut_share(shares, w, at, most);
}

// Cuts about `left` bytes into shares that the threads take one after another. They become smaller
// and smaller, so that the threads finish together.
static void cut_span(line_shares *shares, const agg_read_window *w, unsigned n_threads, size_t left)
{
    size_t at = w->start, end = w->end - at < left ? w->end : at + left,
           most = agg_share_bytes(n_threads);
    for (shares->n = 0; shares->n < AGG_THREADS_MAX && at < end;) {
        size_t some = (end - at) / 2 / n_threads;
        if (some < SHARE_BYTES_LAST) some = SHARE_BYTES_LAST;
        at = cut_share(shares, w, at, some < most ? some : most);
        shares->n++;
    }
}

// Gives out the records that the threads read, in order, unless the threads did. The lines that a
// thread left are read before the next share's records are given out.
static agg_err give_shares(agg_reading *r, agg_line_reader *rest, const line_shares *shares)
{
    agg_run runs[AGG_RUNS_MAX];
    uint32_t n_runs = 0;
    for (unsigned i = 0; i < shares->n; i++) {
        const line_share *share = &shares->at[i];
        r->window.start = share->stop;
        r->line += share->count;
        r->count->lines += share->count;
        if (r->share != NULL)
            r->count->records += share->count;
        else if (share->count > 0)
            runs[n_runs++] = (agg_run){NULL, share->records, share->count, 0};
        if (share->stop == share->end && i + 1 < shares->n && n_runs < AGG_RUNS_MAX) continue;
        agg_err err = agg_reading_give(r, runs, n_runs);
        if (err == SHOAL_OK) err = agg_line_reader_run(rest, share->end);
        if (err != SHOAL_OK) return err;
        n_runs = 0;
    }
    return SHOAL_OK;
}

static agg_err take_shares(agg_reading *r, agg_line_reader *rest, line_shares *shares)
{
    if (r->share == NULL) {
        cut_shares(shares, &r->window, r->n_threads, agg_share_bytes(r->n_threads));
        agg_parallel(shares->n, read_own, shares);
        return give_shares(r, rest, shares);
    }
    size_t line = rest->frame.size + 1;
    cut_span(shares, &r->window, r->n_threads,
             r->span < SIZE_MAX / line ? r->span * line : SIZE_MAX);
    shares->queue = (agg_read_queue){.r = r, .n = shares->n, .most = 1};
    agg_err err = agg_read_queue_run(&shares->queue, r->n_threads, read_next, shares);
    if (err == SHOAL_OK) err = give_shares(r, rest, shares);
    return err == SHOAL_OK ? agg_reading_tell_barrier(r) : err;
}

agg_err agg_shared_lines_run(agg_reading *r, agg_line_reader *rest)
{
    line_shares shares = {.frame = &rest->frame, .window = &r->window};
    shares.room = (uint32_t)(agg_share_bytes(r->n_threads) / (rest->frame.size + 1)) + 1;
    shares.records = agg_alloc(r->error, r->n_threads,
                               (size_t)shoal_record_size(rest->frame.text.recipe) * shares.room);
    agg_err err = shares.records != NULL ? SHOAL_OK : AGG_ERR_MEMORY;
    while (err == SHOAL_OK && agg_reading_has(r) > 0) err = take_shares(r, rest, &shares);
    free(shares.records);
    return err;
}

uint64_t agg_shared_lines_memory(const agg_recipe *recipe, unsigned n_threads)
{
    uint64_t share = agg_share_bytes(n_threads), room = share / (agg_report_size(recipe) + 1) + 1;
    return n_threads * room * shoal_record_size(recipe->recipe);
}
