// SPDX-License-Identifier: Apache-2.0
// Grouping by row and counting; see row_fold.h.
#include "row_fold.h"

#include <stdlib.h>
#include <string.h>

#include "agg_parallel.h"
#include "agg_size.h"
#include "bytes.h"

#define MOST 255u                      // vectors of one call: what the planes of bit_columns.h hold at once
#define PIECE_MIN 4096u                // records that are grouped together at least
#define NEAR_VECTORS 127u              // vectors brought in together, of a row that lies in order
#define THREAD_BYTES ((size_t)1 << 18) // of records, below which a thread costs more than it saves

// Adds records `order` of a piece, all of one row.
static void add_row(uint32_t *counts, uint32_t m, const uint8_t *records, size_t stride, const uint32_t *order,
                    uint32_t n, agg_bit_columns add_columns)
{
    const uint8_t *vectors[MOST];
    for (uint32_t first = 0; first < n; first += MOST) {
        uint32_t some = n - first < MOST ? n - first : MOST;
        for (uint32_t i = 0; i < some; i++) vectors[i] = records + order[first + i] * stride + 4;
        add_columns(counts, m, vectors, some);
    }
}

// Fewer records than there are rows: one by one.
static void add_singly(const agg_row_range *range, const uint8_t *records, size_t stride, uint32_t count,
                       agg_bit_columns add_columns)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *record = records + i * stride, *vector = record + 4;
        uint32_t row = load32_le(record) - range->first;
        if (row >= range->n_rows) continue;
        add_columns(range->cells + (size_t)row * range->m, range->m, &vector, 1);
        range->rows[row]++;
    }
}

void agg_row_fold_piece(const agg_row_range *range, const uint8_t *records, size_t stride, uint32_t count,
                        uint32_t *scratch, agg_bit_columns add_columns)
{
    uint32_t n_rows = range->n_rows, *next = scratch, *order = scratch + n_rows + 1, end = 0;
    if (count < n_rows / 8) {
        add_singly(range, records, stride, count, add_columns);
        return;
    }
    memset(next, 0, ((size_t)n_rows + 1) * sizeof *next);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = load32_le(records + i * stride) - range->first; // wraps below it: then it is beyond, too
        next[row < n_rows ? row : n_rows]++;
    }
    for (uint32_t j = 0; j < n_rows; j++) {
        uint32_t n = next[j];
        range->rows[j] += n;
        next[j] = end;
        end += n;
    }
    next[n_rows] = end; // records of other rows go behind, and are left there
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = load32_le(records + i * stride) - range->first;
        order[next[row < n_rows ? row : n_rows]++] = i;
    }
    // Now next[j] is where row j's group ends.
    for (uint32_t j = 0; j < n_rows; j++) {
        uint32_t start = j > 0 ? next[j - 1] : 0;
        add_row(range->cells + (size_t)j * range->m, range->m, records, stride, order + start, next[j] - start,
                add_columns);
    }
}

typedef struct row_folding {
    const agg_row_range *range;
    const uint8_t *records;
    size_t stride;
    uint32_t count;
    uint32_t *scratch; // scratch_len numbers a thread
    size_t scratch_len;
    agg_bit_columns add_columns;
} row_folding;

// The share of the rows that one thread owns.
static void fold_share(void *context, unsigned part, unsigned n_parts)
{
    const row_folding *f = context;
    uint32_t k = f->range->n_rows, m = f->range->m;
    uint32_t first = (uint32_t)((uint64_t)k * part / n_parts), last = (uint32_t)((uint64_t)k * (part + 1) / n_parts);
    const agg_row_range own = {f->range->cells + (size_t)first * m, f->range->rows + first, f->range->first + first,
                               last - first, m};
    if (first < last)
        agg_row_fold_piece(&own, f->records, f->stride, f->count, f->scratch + part * f->scratch_len, f->add_columns);
}

// Threads that `count` records of `stride` bytes are worth.
static unsigned threads_for(unsigned n_threads, size_t stride, uint32_t count)
{
    size_t worth = stride * count / THREAD_BYTES;
    return worth < 2 ? 1 : n_threads < worth ? n_threads : (unsigned)worth;
}

shoal_err agg_row_fold(const agg_row_range *range, agg_error *error, const uint8_t *records, size_t stride,
                       uint32_t count, unsigned n_threads)
{
    uint64_t wanted = (uint64_t)AGG_RECORDS_A_ROW * range->n_rows;
    uint32_t piece = wanted < PIECE_MIN ? PIECE_MIN : wanted < count ? (uint32_t)wanted : count;
    if (piece > count) piece = count;
    if (n_threads > AGG_THREADS_MAX) n_threads = AGG_THREADS_MAX;
    n_threads = threads_for(n_threads < range->n_rows ? n_threads : range->n_rows, stride, piece);
    row_folding f = {range, records, stride, 0, NULL, (size_t)range->n_rows + 1 + piece, NULL};
    f.add_columns = agg_bit_columns_of(agg_cpu_chosen());
    f.scratch = agg_alloc(error, n_threads, f.scratch_len * sizeof *f.scratch);
    if (f.scratch == NULL) return AGG_ERR_MEMORY;
    for (uint32_t first = 0; first < count; first += f.count) {
        f.records = records + first * stride;
        f.count = count - first < piece ? count - first : piece;
        agg_parallel(n_threads, fold_share, &f);
    }
    free(f.scratch);
    return SHOAL_OK;
}

// Reads a byte of each cache line: counting goes over the vectors' columns in turn, and what comes from memory should be
// read once and in order.
static void bring_near(const uint8_t *from, size_t len)
{
    for (size_t i = 0; i < len; i += 64) (void)*(const volatile uint8_t *)(from + i);
}

typedef struct one_row {
    uint32_t *counts; // m a thread
    uint32_t m;
    const uint8_t *vectors;
    size_t stride;
    uint32_t count;
    agg_bit_columns add_columns;
} one_row;

// One thread's share of the vectors, into counts of its own.
static void add_share(void *context, unsigned part, unsigned n_parts)
{
    const one_row *row = context;
    const uint8_t *near[NEAR_VECTORS];
    uint32_t end = (uint32_t)((uint64_t)row->count * (part + 1) / n_parts), size = (row->m + 7) / 8;
    for (uint32_t first = (uint32_t)((uint64_t)row->count * part / n_parts); first < end; first += NEAR_VECTORS) {
        uint32_t some = end - first < NEAR_VECTORS ? end - first : NEAR_VECTORS;
        for (uint32_t i = 0; i < some; i++) near[i] = row->vectors + (first + i) * row->stride;
        bring_near(near[0], (some - 1) * row->stride + size);
        row->add_columns(row->counts + (size_t)part * row->m, row->m, near, some);
    }
}

shoal_err agg_one_row_fold(uint32_t *counts, uint32_t m, agg_error *error, const uint8_t *vectors, size_t stride,
                           uint32_t count, unsigned n_threads)
{
    one_row row = {counts, m, vectors, stride, count, agg_bit_columns_of(agg_cpu_chosen())};
    if (n_threads > AGG_THREADS_MAX) n_threads = AGG_THREADS_MAX;
    n_threads = threads_for(n_threads, stride, count);
    if (n_threads < 2) {
        add_share(&row, 0, 1);
        return SHOAL_OK;
    }
    row.counts = agg_alloc(error, n_threads, m * sizeof *row.counts);
    if (row.counts == NULL) return AGG_ERR_MEMORY;
    agg_parallel(n_threads, add_share, &row);
    for (unsigned part = 0; part < n_threads; part++)
        for (uint32_t l = 0; l < m; l++) counts[l] += row.counts[(size_t)part * m + l];
    free(row.counts);
    return SHOAL_OK;
}
