// SPDX-License-Identifier: Apache-2.0
// Sharing records among threads; see fold_workers.h.
#include "fold_workers.h"

#include <stdlib.h>
#include <string.h>

#include "agg_pages.h"
#include "agg_parallel.h"
#include "agg_size.h"

#define SHARED_BYTES ((size_t)1 << 19) // of records, below which one worker is faster

// ---- memory ----

static agg_err alloc_counters(agg_fold_workers *w, agg_error *error)
{
    unsigned n = w->plan.n_workers;
    size_t scratch_len = agg_row_scratch(w->rows.n_rows, w->plan.cap);
    w->counters = agg_alloc(error, n, w->plan.counters_bytes);
    w->pending = agg_alloc(error, n, w->rows.n_rows);
    w->scratch = agg_alloc(error, n, scratch_len * sizeof *w->scratch);
    w->n_added = agg_alloc(error, n, sizeof *w->n_added);
    bool has_all =
        w->counters != NULL && w->pending != NULL && w->scratch != NULL && w->n_added != NULL;
    return has_all ? SHOAL_OK : AGG_ERR_MEMORY;
}

static agg_err init_locks(agg_fold_workers *w, agg_error *error)
{
    for (; w->n_locks < 1 + AGG_ROW_LOCKS; w->n_locks++)
        if (!agg_lock_init(w->n_locks == 0 ? &w->guard : &w->locks[w->n_locks - 1]))
            return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "no lock for the threads");
    return SHOAL_OK;
}

agg_err agg_fold_workers_init(agg_fold_workers *w, agg_error *error, const agg_fold_plan *plan,
                              agg_sketch *sketch)
{
    memset(w, 0, sizeof *w);
    w->plan = *plan;
    w->rows = (agg_row_range){.cells = sketch->cells.ones,
                              .rows = sketch->rows,
                              .n_rows = sketch->shape.k,
                              .m = sketch->shape.m};
    agg_err err = plan->method == AGG_FOLD_BUCKETS
                      ? agg_row_buckets_init(&w->buckets, error, plan, &w->rows)
                      : alloc_counters(w, error);
    if (err == SHOAL_OK && plan->n_workers > 1) err = init_locks(w, error);
    if (err != SHOAL_OK) agg_fold_workers_release(w);
    return err;
}

void agg_fold_workers_release(agg_fold_workers *w)
{
    free(w->counters);
    free(w->pending);
    free(w->scratch);
    free(w->n_added);
    agg_row_buckets_release(&w->buckets);
    for (unsigned i = 0; i < w->n_locks; i++)
        agg_lock_release(i == 0 ? &w->guard : &w->locks[i - 1]);
    memset(w, 0, sizeof *w);
}

// ---- one worker ----

// All rows, with a worker's counters.
static agg_row_range rows_of(agg_fold_workers *w, unsigned worker)
{
    agg_row_range rows = w->rows;
    rows.counters = w->counters + worker * w->plan.counters_bytes;
    rows.pending = w->pending + (size_t)worker * rows.n_rows;
    rows.locks = w->plan.n_workers > 1 ? w->locks : NULL;
    return rows;
}

// Prefaults what a worker writes, its counters and its share of the counts, once it has taken so
// many records that most of these pages will be written.
static void prefault(agg_fold_workers *w, unsigned worker, uint32_t count)
{
    size_t bytes = w->plan.counters_bytes, m = w->rows.m;
    uint64_t before = w->n_added[worker], n_rows = w->rows.n_rows, n = w->plan.n_workers;
    w->n_added[worker] += count;
    if (before >= n_rows || w->n_added[worker] < n_rows) return;
    agg_pages_prefault(w->counters + worker * bytes, bytes);
    size_t first = (size_t)(n_rows * m * worker / n), end = (size_t)(n_rows * m * (worker + 1) / n);
    agg_pages_prefault(w->rows.cells + first, (end - first) * sizeof *w->rows.cells);
}

static void add_to_counters(agg_fold_workers *w, unsigned worker, const uint8_t *records,
                            uint32_t count)
{
    const agg_bit_columns *columns = agg_bit_columns_of(agg_cpu_chosen());
    const agg_row_range rows = rows_of(w, worker);
    size_t size = w->plan.record_size;
    uint32_t *scratch = w->scratch + worker * agg_row_scratch(rows.n_rows, w->plan.cap);
    prefault(w, worker, count);
    for (uint32_t at = 0, some; at < count; at += some) {
        some = count - at < w->plan.cap ? count - at : w->plan.cap;
        const agg_row_piece piece = {records + at * size, size, some, NULL};
        agg_row_fold_piece(&rows, &piece, scratch, columns);
    }
}

void agg_fold_workers_add_as(agg_fold_workers *w, unsigned worker, const agg_folder_run *run)
{
    agg_lock *locks = w->plan.n_workers > 1 ? w->locks : NULL;
    if (w->plan.method == AGG_FOLD_BUCKETS)
        agg_row_buckets_append(&w->buckets, worker, locks, run->records, run->count);
    else
        add_to_counters(w, worker, run->records, run->count);
}

// ---- all workers ----

// Buckets with at least `least` records, which threads take one after another.
typedef struct bucket_queue {
    agg_fold_workers *workers;
    uint32_t least, next;
} bucket_queue;

// Returns: the next such bucket, or the number of buckets when there is none.
static uint32_t take_bucket(bucket_queue *queue)
{
    agg_fold_workers *w = queue->workers;
    uint32_t n = w->buckets.plan.n;
    if (w->plan.n_workers > 1) agg_lock_take(&w->guard);
    while (queue->next < n && agg_row_buckets_used(&w->buckets, queue->next) < queue->least)
        queue->next++;
    uint32_t bucket = queue->next < n ? queue->next++ : n;
    if (w->plan.n_workers > 1) agg_lock_leave(&w->guard);
    return bucket;
}

static void fold_buckets(void *context, unsigned part, unsigned n_parts)
{
    bucket_queue *queue = context;
    agg_row_buckets *buckets = &queue->workers->buckets;
    (void)n_parts;
    for (uint32_t bucket; (bucket = take_bucket(queue)) < buckets->plan.n;)
        agg_row_buckets_fold(buckets, bucket, part);
}

// Runs that the workers share, each an equal number of records that follow one another.
typedef struct shared_runs {
    agg_fold_workers *workers;
    const agg_folder_run *runs;
    uint32_t n_runs;
    uint64_t count; // records of all runs
} shared_runs;

static void add_share(void *context, unsigned part, unsigned n_parts)
{
    const shared_runs *shared = context;
    agg_fold_workers *w = shared->workers;
    unsigned worker = (w->next + part) % w->plan.n_workers;
    uint64_t skip = shared->count * part / n_parts,
             left = shared->count * (part + 1) / n_parts - skip;
    for (uint32_t r = 0; r < shared->n_runs && left > 0; r++) {
        const agg_folder_run *run = &shared->runs[r];
        uint64_t at = skip < run->count ? skip : run->count,
                 some = run->count - at < left ? run->count - at : left;
        const agg_folder_run own = {run->records + at * w->plan.record_size, (uint32_t)some};
        agg_fold_workers_add_as(w, worker, &own);
        skip -= at;
        left -= some;
    }
}

void agg_fold_workers_add(agg_fold_workers *w, const agg_folder_run *runs, uint32_t n_runs)
{
    shared_runs shared = {w, runs, n_runs, 0};
    unsigned n = w->plan.n_workers;
    for (uint32_t r = 0; r < n_runs; r++) shared.count += runs[r].count;
    agg_parallel(shared.count * w->plan.record_size < SHARED_BYTES ? 1 : n, add_share, &shared);
    w->next = (w->next + 1) % n;
    if (w->plan.method != AGG_FOLD_BUCKETS || n < 2 || !agg_row_buckets_is_due(&w->buckets)) return;
    bucket_queue full = {w, w->buckets.plan.cap / 2, 0};
    agg_parallel(n, fold_buckets, &full);
}

// Drains all workers' counters of one thread's share of the rows.
static void drain_share(void *context, unsigned part, unsigned n_parts)
{
    agg_fold_workers *w = context;
    uint64_t k = w->rows.n_rows;
    uint32_t first = (uint32_t)(k * part / n_parts), end = (uint32_t)(k * (part + 1) / n_parts);
    for (unsigned worker = 0; worker < w->plan.n_workers; worker++) {
        const agg_row_range rows = rows_of(w, worker),
                            own = agg_row_part(&rows, first, end - first);
        agg_row_drain(&own, agg_bit_columns_of(agg_cpu_chosen()));
    }
}

void agg_fold_workers_flush(agg_fold_workers *w)
{
    bucket_queue all = {w, 1, 0};
    if (w->plan.method == AGG_FOLD_COUNTERS) {
        agg_parallel(w->plan.n_workers, drain_share, w);
        return;
    }
    agg_parallel(w->plan.n_workers, fold_buckets, &all);
    w->buckets.fullest = 0;
}
