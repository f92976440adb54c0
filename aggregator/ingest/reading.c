// SPDX-License-Identifier: Apache-2.0
// The state of a stream and the queue of its threads; see reading.h.
#include "reading.h"

#define SHARED_BYTES ((size_t)12 << 20) // that all threads share at a time

static void report_progress(const agg_reading *r, uint64_t before)
{
    if (r->reader->progress != NULL && r->count->bytes > before)
        r->reader->progress(r->reader->progress_context, r->count->bytes);
}

agg_err agg_reading_fill(agg_reading *r, size_t needed)
{
    uint64_t before = r->count->bytes;
    agg_err err = agg_read_window_fill(&r->window, r->error, &r->count->bytes, needed);
    if (err != SHOAL_OK && err != AGG_ERR_MEMORY) agg_error_prefix(r->error, "%s", r->name);
    report_progress(r, before);
    return err;
}

agg_err agg_reading_give(agg_reading *r, const agg_run *runs, uint32_t n_runs)
{
    uint64_t before = r->count->bytes;
    agg_err err =
        n_runs > 0 ? r->reader->sink(r->reader->sink_context, r->error, runs, n_runs) : SHOAL_OK;
    for (uint32_t i = 0; err == SHOAL_OK && i < n_runs; i++) r->count->records += runs[i].count;
    agg_read_window_pass(&r->window, &r->count->bytes);
    report_progress(r, before);
    return err;
}

agg_err agg_reading_tell_barrier(agg_reading *r)
{
    const agg_run none = {NULL, NULL, 0, 0};
    return r->reader->sink(r->reader->sink_context, r->error, &none, 0);
}

size_t agg_share_bytes(unsigned n_threads)
{
    size_t bytes = SHARED_BYTES / n_threads;
    return bytes > AGG_SHARE_BYTES_MIN ? bytes : AGG_SHARE_BYTES_MIN;
}

bool agg_read_queue_take(uint32_t *first, uint32_t *end, agg_read_queue *q)
{
    agg_lock_take(&q->r->guard);
    uint32_t left = q->err == SHOAL_OK ? q->n - q->next : 0, some = left / 2 / q->r->n_threads;
    if (some > q->most) some = q->most;
    *first = q->next;
    q->next += some > 1 ? some : left > 0 ? 1 : 0;
    *end = q->next;
    agg_lock_leave(&q->r->guard);
    return *first < *end;
}

void agg_read_queue_stop(agg_read_queue *q)
{
    agg_lock_take(&q->r->guard);
    q->n = q->next;
    agg_lock_leave(&q->r->guard);
}

agg_err agg_read_queue_give(agg_read_queue *q, unsigned part, const agg_run *run)
{
    agg_error error = {SHOAL_OK, 0, ""};
    agg_err err = q->r->share(q->r->reader->sink_context, &error, part, run);
    if (err == SHOAL_OK) return SHOAL_OK;
    agg_lock_take(&q->r->guard);
    if (q->err == SHOAL_OK) q->error = error;
    if (q->err == SHOAL_OK) q->err = err;
    agg_lock_leave(&q->r->guard);
    return err;
}

agg_err agg_read_queue_run(agg_read_queue *q, unsigned n_threads, agg_work work, void *context)
{
    agg_parallel(n_threads < q->n ? n_threads : q->n, work, context);
    if (q->err != SHOAL_OK) *q->r->error = q->error;
    return q->err;
}
