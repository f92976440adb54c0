// SPDX-License-Identifier: Apache-2.0
// Partitioning records by row, and folding the buckets; see row_buckets.h.
#include "row_buckets.h"

#include <stdlib.h>
#include <string.h>

#include "agg_pages.h"
#include "agg_size.h"
#include "bytes.h"
#include "stream_copy.h"

#define HUGE_BYTES ((size_t)64 << 20) // of buckets, from which huge pages are asked for
// Bytes that are prefetched ahead of the record being appended: the stores to the buckets keep the
// hardware from recognizing the sequential read.
#define PREFETCH_AHEAD 2048u

// Where a worker's part of a bucket begins.
static uint8_t *part_at(const agg_row_buckets *b, unsigned worker, uint32_t bucket)
{
    return b->records + bucket * b->plan.bytes +
           (size_t)worker * b->plan.worker_cap * b->plan.stride;
}

// Where the row numbers of a worker's part begin.
static uint8_t *row_numbers_at(const agg_row_buckets *b, unsigned worker, uint32_t bucket)
{
    return b->row_numbers +
           4 * ((size_t)bucket * b->plan.cap + (size_t)worker * b->plan.worker_cap);
}

static uint32_t *used_by(const agg_row_buckets *b, unsigned worker)
{
    return b->used + (size_t)worker * b->plan.n;
}

static uint8_t *combining_of(const agg_row_buckets *b, unsigned worker, uint32_t bucket)
{
    return b->combining + ((size_t)worker * b->plan.n + bucket) * (2 * AGG_COMBINE_BYTES);
}

// The first `count` records from a worker's part on; they may reach into the next worker's part.
static agg_row_piece piece_of(const agg_row_buckets *b, unsigned worker, uint32_t bucket,
                              uint32_t count)
{
    agg_row_piece piece = {part_at(b, worker, bucket), b->plan.stride, count, NULL};
    if (b->plan.has_rows_apart) piece.rows = row_numbers_at(b, worker, bucket);
    return piece;
}

agg_err agg_row_buckets_init(agg_row_buckets *b, agg_error *error, const agg_fold_plan *plan,
                             const agg_row_range *rows)
{
    const agg_bucket_plan *p = &plan->buckets;
    *b = (agg_row_buckets){
        .plan = *p, .rows = *rows, .record_size = plan->record_size, .n_workers = plan->n_workers};
    size_t n_parts = (size_t)plan->n_workers * p->n;
    b->memory = agg_alloc(error, plan->buffer_bytes + AGG_LINE, 1);
    b->used = agg_alloc(error, n_parts, sizeof *b->used);
    b->scratch = agg_alloc(error, plan->n_threads, p->scratch_len * sizeof *b->scratch);
    b->row_numbers = agg_alloc(error, p->has_rows_apart ? p->n : 0, (size_t)p->cap * 4);
    b->combining = agg_alloc(error, p->is_combined ? n_parts : 0, 2 * AGG_COMBINE_BYTES);
    if (b->memory == NULL || b->used == NULL || b->scratch == NULL || b->row_numbers == NULL ||
        b->combining == NULL) {
        agg_row_buckets_release(b);
        return AGG_ERR_MEMORY;
    }
    b->records = agg_line_start(b->memory);
    if (plan->buffer_bytes > HUGE_BYTES) agg_pages_advise(b->memory, plan->buffer_bytes);
    return SHOAL_OK;
}

void agg_row_buckets_release(agg_row_buckets *b)
{
    free(b->memory);
    free(b->used);
    free(b->scratch);
    free(b->row_numbers);
    free(b->combining);
    memset(b, 0, sizeof *b);
}

// Appends a record whose lines are gathered in the part's write-combining buffer. The buffer holds
// the bytes from the last multiple of AGG_COMBINE_BYTES on.
static inline void combine(const agg_row_buckets *b, unsigned worker, uint32_t bucket, uint8_t *to,
                           size_t at, const uint8_t *record, size_t size)
{
    size_t held = at % AGG_COMBINE_BYTES;
    uint8_t *buffer = combining_of(b, worker, bucket);
    memcpy(buffer + held, record, size);
    if (held + size < AGG_COMBINE_BYTES) return;
    agg_stream_copy(to + at - held, buffer, AGG_COMBINE_BYTES);
    memcpy(buffer, buffer + AGG_COMBINE_BYTES, held + size - AGG_COMBINE_BYTES);
}

static inline void append(agg_row_buckets *b, unsigned worker, uint32_t bucket,
                          const uint8_t *record, size_t size)
{
    uint8_t *to = part_at(b, worker, bucket);
    uint32_t used = used_by(b, worker)[bucket]++;
    if (b->plan.has_rows_apart) {
        memcpy(row_numbers_at(b, worker, bucket) + 4 * (size_t)used, record, 4);
        agg_stream_copy(to + used * (size - 4), record + 4, size - 4);
    } else if (b->plan.is_combined) {
        combine(b, worker, bucket, to, used * size, record, size);
    } else {
        memcpy(to + used * size, record, size);
    }
}

// Copies what a write-combining buffer still holds to its part.
static void flush_combining(agg_row_buckets *b, unsigned worker, uint32_t bucket)
{
    size_t len = used_by(b, worker)[bucket] * b->record_size, held = len % AGG_COMBINE_BYTES;
    if (!b->plan.is_combined) return;
    memcpy(part_at(b, worker, bucket) + len - held, combining_of(b, worker, bucket), held);
}

static agg_row_range rows_of(const agg_row_buckets *b, uint32_t bucket)
{
    uint32_t shift = b->plan.row_shift, row = bucket << shift, left = b->rows.n_rows - row;
    return agg_row_part(&b->rows, row, left >> shift > 0 ? (uint32_t)1 << shift : left);
}

// Folds a full part, while other workers append to theirs.
static void fold_part(agg_row_buckets *b, unsigned worker, uint32_t bucket, agg_lock *locks,
                      const agg_bit_columns *columns)
{
    const agg_row_range rows = rows_of(b, bucket);
    const agg_row_piece piece = piece_of(b, worker, bucket, used_by(b, worker)[bucket]);
    agg_lock *lock = locks != NULL ? &locks[bucket % AGG_ROW_LOCKS] : NULL;
    flush_combining(b, worker, bucket);
    if (lock != NULL) agg_lock_take(lock);
    agg_row_fold_piece(&rows, &piece, b->scratch + worker * b->plan.scratch_len, columns);
    if (lock != NULL) agg_lock_leave(lock);
    used_by(b, worker)[bucket] = 0;
}

void agg_row_buckets_append(agg_row_buckets *b, unsigned worker, agg_lock *locks,
                            const uint8_t *records, uint32_t count)
{
    const agg_bit_columns *columns = agg_bit_columns_of(agg_cpu_chosen());
    size_t size = b->record_size;
    const uint32_t *used = used_by(b, worker), cap = b->plan.worker_cap;
    for (uint32_t i = 0; i < count; i++, records += size) {
        uint32_t bucket = load32_le(records) >> b->plan.row_shift;
        __builtin_prefetch(records + PREFETCH_AHEAD);
        __builtin_prefetch(records + PREFETCH_AHEAD + AGG_LINE);
        append(b, worker, bucket, records, size);
        if (used[bucket] == cap) fold_part(b, worker, bucket, locks, columns);
    }
    agg_stream_end();
}

uint32_t agg_row_buckets_used(const agg_row_buckets *b, uint32_t bucket)
{
    uint32_t used = 0;
    for (unsigned worker = 0; worker < b->n_workers; worker++) used += used_by(b, worker)[bucket];
    return used;
}

// All parts are folded as one piece: the unused space between two parts becomes records of a row
// that does not exist, which agg_row_fold_piece skips.
void agg_row_buckets_fold(agg_row_buckets *b, uint32_t bucket, unsigned thread)
{
    const agg_row_range rows = rows_of(b, bucket);
    agg_row_piece piece = piece_of(b, 0, bucket, 0);
    uint8_t *row = b->plan.has_rows_apart ? row_numbers_at(b, 0, bucket) : part_at(b, 0, bucket);
    size_t row_stride = b->plan.has_rows_apart ? 4 : piece.stride;
    for (unsigned worker = 0; worker < b->n_workers; worker++) {
        uint32_t used = used_by(b, worker)[bucket], first = worker * b->plan.worker_cap;
        if (used == 0) continue;
        for (; piece.count < first; piece.count++)
            store32_le(row + piece.count * row_stride, UINT32_MAX);
        flush_combining(b, worker, bucket);
        piece.count = first + used;
        used_by(b, worker)[bucket] = 0;
    }
    agg_row_fold_piece(&rows, &piece, b->scratch + thread * b->plan.scratch_len,
                       agg_bit_columns_of(agg_cpu_chosen()));
}

bool agg_row_buckets_is_due(agg_row_buckets *b)
{
    uint32_t fullest = 0, n_parts = b->plan.n * b->n_workers;
    for (uint32_t i = 0; i < n_parts; i++)
        if (b->used[i] > fullest) fullest = b->used[i];
    uint32_t growth = fullest > b->fullest ? fullest - b->fullest : 0;
    b->fullest = fullest;
    if (fullest + growth < b->plan.worker_cap) return false;
    b->fullest = 0;
    return true;
}
