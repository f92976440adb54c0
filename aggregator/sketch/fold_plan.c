// SPDX-License-Identifier: Apache-2.0
// Choosing a folder's method and its memory; see fold_plan.h.
#include "fold_plan.h"

#include <string.h>

#include "agg_size.h"
#include "row_fold.h"
#include "scattered_adds.h"

// Default sizes of the buffer: the least, the size where more records always help, and the most.
#define BUFFER_BYTES_MIN ((size_t)1 << 20)
#define BUFFER_BYTES_FAR ((size_t)64 << 20)
#define BUFFER_BYTES_MAX ((size_t)256 << 20)
// Carry-save counters of one worker, which the cache holds beside a piece of records, and of all.
#define COUNTERS_BYTES_MAX ((size_t)8 << 20)
#define COUNTERS_BYTES_ALL ((size_t)32 << 20)
// A bucket is read twice, to sort and to count, so it has to fit the second-level cache.
#define BUCKET_BYTES ((size_t)1 << 20)

static const agg_sketch_kind *kind_of(const agg_sketch *part)
{
    return agg_sketch_kind_of(part->shape.mechanism);
}

// Returns: whether the accumulator is one sketch of rows of bits, and keeps no records.
static bool is_rows_alone(const agg_accumulator *acc)
{
    return acc->n_parts == 1 && !agg_accumulator_keeps_records(acc) &&
           kind_of(&acc->parts[0])->is_rows_of_bits;
}

// Returns: bytes of records that give each row of a part AGG_RECORDS_A_ROW.
static uint64_t bytes_for_rows(const agg_accumulator *acc, const agg_sketch *part)
{
    return (uint64_t)AGG_RECORDS_A_ROW * part->shape.k * acc->record_size;
}

static size_t counters_bytes(const agg_accumulator *acc)
{
    const agg_shape *shape = &acc->parts[0].shape;
    return shape->k * agg_counters_size(shape->m);
}

// Counters pay where a piece that the cache holds gives a row only few records.
static bool wants_counters(const agg_accumulator *acc)
{
    return is_rows_alone(acc) && bytes_for_rows(acc, &acc->parts[0]) > AGG_PIECE_BYTES &&
           counters_bytes(acc) <= COUNTERS_BYTES_MAX;
}

// Returns: bytes of the buffer that makes adding fast.
static size_t fast_bytes(const agg_accumulator *acc)
{
    uint64_t bytes = BUFFER_BYTES_MIN;
    if (wants_counters(acc)) return AGG_PIECE_BYTES;
    for (uint32_t i = 0; i < acc->n_parts; i++) {
        const agg_sketch *part = &acc->parts[i];
        uint64_t wanted = kind_of(part)->is_rows_of_bits   ? bytes_for_rows(acc, part)
                          : part->n_cells > AGG_NEAR_CELLS ? BUFFER_BYTES_FAR
                                                           : 0;
        if (wanted > bytes) bytes = wanted;
    }
    // Each call takes a pass over all records that are kept.
    if (agg_accumulator_keeps_records(acc) && bytes < BUFFER_BYTES_FAR) bytes = BUFFER_BYTES_FAR;
    return bytes < BUFFER_BYTES_MAX ? (size_t)bytes : BUFFER_BYTES_MAX;
}

// Cuts the buckets into one part per worker. Each part begins at a cache line, so it holds a
// multiple of `whole` records; a part of fewer than four times that many would waste too much.
static void plan_bucket_parts(agg_fold_plan *plan)
{
    agg_bucket_plan *buckets = &plan->buckets;
    bool is_large = !buckets->has_rows_apart && !buckets->is_combined;
    uint32_t whole = is_large ? 1 : (uint32_t)AGG_LINE, most = buckets->cap / whole / 4;
    plan->n_workers = plan->n_threads < most ? plan->n_threads : most > 0 ? most : 1;
    buckets->worker_cap =
        plan->n_workers > 1 ? buckets->cap / plan->n_workers / whole * whole : buckets->cap;
    buckets->cap = buckets->worker_cap * plan->n_workers;
}

static void plan_buckets(agg_fold_plan *plan, const agg_accumulator *acc, size_t bytes)
{
    agg_bucket_plan *buckets = &plan->buckets;
    uint32_t last = acc->parts[0].shape.k - 1;
    while ((last >> buckets->row_shift) + 1 > bytes / BUCKET_BYTES) buckets->row_shift++;
    buckets->n = (last >> buckets->row_shift) + 1;
    buckets->bytes = bytes / buckets->n / AGG_LINE * AGG_LINE;
    buckets->cap = (uint32_t)(buckets->bytes / plan->record_size);
    buckets->has_rows_apart = (plan->record_size - 4) % AGG_LINE == 0;
    buckets->is_combined = !buckets->has_rows_apart && plan->record_size <= AGG_COMBINE_BYTES;
    buckets->stride = plan->record_size - (buckets->has_rows_apart ? 4 : 0);
    plan_bucket_parts(plan);
    if (buckets->has_rows_apart) buckets->bytes = buckets->cap * buckets->stride;
    buckets->scratch_len = agg_row_scratch((uint32_t)1 << buckets->row_shift, buckets->cap);
    plan->method = AGG_FOLD_BUCKETS;
    plan->cap = buckets->cap * buckets->n;
    plan->buffer_bytes = buckets->n * buckets->bytes;
}

static void plan_counters(agg_fold_plan *plan, const agg_accumulator *acc)
{
    plan->method = AGG_FOLD_COUNTERS;
    plan->counters_bytes = counters_bytes(acc);
    unsigned most = (unsigned)(COUNTERS_BYTES_ALL / plan->counters_bytes);
    plan->n_workers = plan->n_threads < most ? plan->n_threads : most;
}

agg_fold_plan agg_fold_plan_make(const agg_accumulator *acc, size_t bytes, unsigned n_threads)
{
    size_t fast = fast_bytes(acc), size = acc->record_size;
    if (bytes == 0 || bytes > fast) bytes = fast;
    size_t cap = bytes / size > 0 ? bytes / size : 1;
    agg_fold_plan plan = {.record_size = size, .n_workers = 1};
    plan.cap = cap < UINT32_MAX ? (uint32_t)cap : UINT32_MAX;
    plan.buffer_bytes = plan.cap * size;
    plan.n_threads = n_threads < 1 ? 1 : n_threads < AGG_THREADS_MAX ? n_threads : AGG_THREADS_MAX;
    if (wants_counters(acc))
        plan_counters(&plan, acc);
    else if (is_rows_alone(acc) && bytes > AGG_PIECE_BYTES)
        plan_buckets(&plan, acc, bytes);
    return plan;
}

// Returns: the most bytes that a part's mechanism takes while it adds `count` records.
static uint64_t scratch_of(const agg_sketch *part, uint64_t count, unsigned n_threads)
{
    if (kind_of(part)->is_rows_of_bits && part->shape.k > 1)
        return 4 * n_threads * (uint64_t)agg_row_scratch(part->shape.k, (uint32_t)count);
    return agg_scatter_memory(part->n_cells, count); // too much for those that do not scatter
}

static uint64_t buckets_beside(const agg_fold_plan *plan)
{
    const agg_bucket_plan *buckets = &plan->buckets;
    uint64_t n_parts = plan->n_workers * (uint64_t)buckets->n,
             bytes = 4 * plan->n_threads * (uint64_t)buckets->scratch_len + 4 * n_parts;
    if (buckets->is_combined) bytes += 2 * AGG_COMBINE_BYTES * n_parts;
    if (buckets->has_rows_apart) bytes += 4 * (uint64_t)buckets->n * buckets->cap;
    return bytes;
}

uint64_t agg_fold_plan_beside(const agg_fold_plan *plan, const agg_accumulator *acc)
{
    uint64_t bytes = 0;
    if (plan->method == AGG_FOLD_BUCKETS) return buckets_beside(plan);
    unsigned n = plan->method == AGG_FOLD_COUNTERS ? plan->n_workers : plan->n_threads;
    for (uint32_t i = 0; i < acc->n_parts; i++) {
        uint64_t scratch = scratch_of(&acc->parts[i], plan->cap, n);
        if (scratch > bytes) bytes = scratch;
    }
    if (agg_accumulator_keeps_records(acc)) bytes += 16 * (uint64_t)plan->cap;
    if (plan->method == AGG_FOLD_COUNTERS)
        bytes += plan->n_workers * ((uint64_t)plan->counters_bytes + acc->parts[0].shape.k);
    return bytes;
}
