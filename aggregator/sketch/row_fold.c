// SPDX-License-Identifier: Apache-2.0
// Sorting records by row and counting their bits; see row_fold.h.
#include "row_fold.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agg_parallel.h"
#include "agg_size.h"
#include "bytes.h"

// Vectors of a row in order that are counted together: half of AGG_COUNTERS_MAX.
#define ORDERED_VECTORS 127u
// Bytes of vectors that are prefetched together: the machine loses time with more at once.
#define PREFETCH_BYTES 4352u
// Bytes between the vectors being counted and those being prefetched, of a row in order.
#define PREFETCH_AHEAD 8448u
// The same, of records that are being sorted.
#define PREFETCH_AHEAD_SORTING 16896u
// agg_counters_size of PREFETCH_BYTES / 16 bytes.
#define OWN_COUNTERS 3072u
#define NEARLY_FULL (AGG_COUNTERS_MAX - 16u)
// Bytes of records, below which a thread costs more than it saves: to sort, and of a row in order.
#define THREAD_BYTES ((size_t)1 << 18)
#define THREAD_BYTES_ORDERED ((size_t)1 << 20)

// Reads a byte of each cache line, in order, so that what is then taken in another order comes
// from the cache.
static inline void preload(const uint8_t *from, size_t len)
{
    for (size_t i = 0; i < len; i += AGG_LINE) (void)*(const volatile uint8_t *)(from + i);
}

// Prefetches bytes into the second-level cache.
static inline void prefetch(const uint8_t *from, size_t len)
{
    for (size_t i = 0; i < len; i += AGG_LINE) __builtin_prefetch(from + i, 0, 2);
    __asm__ volatile(""); // gcc leaves out calls of a function that only prefetches
}

// Returns: how many vectors are counted together, few enough to prefetch as many meanwhile; 0
// where vectors are so long that prefetching does not pay.
static uint32_t block_of(const agg_bit_columns *columns, size_t stride)
{
    uint32_t block = columns->block_min;
    if (block * stride > PREFETCH_BYTES) return 0;
    while (2 * block * stride <= PREFETCH_BYTES / 2 && 2 * block <= ORDERED_VECTORS) block *= 2;
    return block;
}

// A sorted piece, of which the records are taken row by row.
typedef struct row_walk {
    const agg_row_range *range;
    const uint8_t *vectors; // of the piece's first record
    size_t stride;
    const agg_bit_columns *columns;
    const uint32_t *order; // positions of the range's records, by row
    uint32_t count;        // of them
    uint32_t block; // records that are counted together while the next are prefetched; 0: none are
    // Counters, all zero, for a range that has none of its own; NULL: vectors are added to the
    // counts at once.
    uint8_t *counters;
} row_walk;

// Adds the vectors that wait in a row's counters to its counts.
static void drain_row(const agg_row_range *range, uint32_t j, uint8_t *counters, uint8_t *pending,
                      const agg_bit_columns *columns)
{
    agg_lock *lock =
        range->locks != NULL ? &range->locks[(range->first + j) % AGG_ROW_LOCKS] : NULL;
    if (lock != NULL) agg_lock_take(lock);
    columns->drain(range->cells + (size_t)j * range->m, range->m, counters);
    range->rows[j] += *pending;
    if (lock != NULL) agg_lock_leave(lock);
    *pending = 0;
}

// Prefetches what counting a row reads and writes beside its records. The work is spread over the
// blocks of the row before: this is number `block` of n_blocks.
static void prefetch_row(const agg_row_range *range, uint32_t j, uint32_t block, uint32_t n_blocks)
{
    size_t counts_len = range->m * sizeof *range->cells, counters_len = agg_counters_size(range->m);
    const uint8_t *counts = (const uint8_t *)(range->cells + (size_t)j * range->m);
    if (range->counters == NULL) {
        size_t some = (counts_len / n_blocks / AGG_LINE + 1) * AGG_LINE, at = block * some;
        if (at < counts_len) prefetch(counts + at, counts_len - at < some ? counts_len - at : some);
        return;
    }
    if (block > 0) return;
    prefetch(range->counters + j * counters_len, counters_len);
    if (range->pending[j] >= NEARLY_FULL) prefetch(counts, counts_len);
}

// Prefetches the records from `first` on of the walk's order.
static void prefetch_records(const row_walk *walk, uint32_t first, uint32_t count)
{
    size_t size = (walk->range->m + 7) / 8;
    for (uint32_t i = first; i < first + count && i < walk->count; i++) {
        const uint8_t *vector = walk->vectors + walk->order[i] * walk->stride;
        prefetch(vector, size);
        prefetch(vector + size - 1, 1); // a vector that begins within a line ends in one more
    }
}

// Adds the records [first, end) of the walk's order, which are row j's.
static void add_row(const row_walk *walk, uint32_t j, uint32_t first, uint32_t end)
{
    const agg_row_range *range = walk->range;
    const uint8_t *vectors[AGG_COUNTERS_MAX];
    bool is_prefetched = walk->block > 0, has_counters = range->counters != NULL;
    uint32_t block = is_prefetched ? walk->block : AGG_COUNTERS_MAX,
             n_blocks = (end - first) / block + 1;
    uint8_t own_pending = 0, *pending = has_counters ? &range->pending[j] : &own_pending;
    uint8_t *counters =
        has_counters ? range->counters + j * agg_counters_size(range->m) : walk->counters;
    for (uint32_t some = 0, done = 0; first < end; first += some, done++) {
        uint32_t room = AGG_COUNTERS_MAX - *pending < block ? AGG_COUNTERS_MAX - *pending : block;
        some = end - first < room ? end - first : room;
        for (uint32_t i = 0; i < some; i++)
            vectors[i] = walk->vectors + walk->order[first + i] * walk->stride;
        if (is_prefetched) {
            prefetch_records(walk, first + block, some);
            if (j + 1 < range->n_rows) prefetch_row(range, j + 1, done, n_blocks);
        }
        if (counters == NULL) {
            walk->columns->add(range->cells + (size_t)j * range->m, range->m, vectors, some);
            range->rows[j] += some;
            continue;
        }
        walk->columns->collect(counters, range->m, vectors, some);
        *pending = (uint8_t)(*pending + some);
        if (*pending == AGG_COUNTERS_MAX) drain_row(range, j, counters, pending, walk->columns);
    }
    if (own_pending > 0) drain_row(range, j, counters, pending, walk->columns);
}

void agg_row_drain(const agg_row_range *range, const agg_bit_columns *columns)
{
    for (uint32_t j = 0; j < range->n_rows; j++)
        if (range->pending[j] > 0)
            drain_row(range, j, range->counters + j * agg_counters_size(range->m),
                      &range->pending[j], columns);
}

// Returns: a record's row, counted from the range's first; n_rows for a row outside the range.
static inline uint32_t row_at(const agg_row_range *range, const agg_row_piece *piece, uint32_t i)
{
    const uint8_t *from =
        piece->rows != NULL ? piece->rows + 4 * (size_t)i : piece->records + i * piece->stride;
    uint32_t row = load32_le(from) - range->first; // wraps below the range
    return row < range->n_rows ? row : range->n_rows;
}

// Returns: the bits of a piece's first record.
static const uint8_t *vectors_of(const agg_row_piece *piece)
{
    return piece->records + (piece->rows != NULL ? 0 : 4);
}

// Adds records one by one: for pieces of fewer records than there are rows.
static void add_singly(const agg_row_range *range, const agg_row_piece *piece,
                       const agg_bit_columns *columns)
{
    for (uint32_t i = 0; i < piece->count; i++) {
        const row_walk alone = {range, vectors_of(piece), piece->stride, columns, &i, 1, 0, NULL};
        uint32_t row = row_at(range, piece, i);
        if (row < range->n_rows) add_row(&alone, row, 0, 1);
    }
}

// Brings records into the cache while they are sorted: record i is preloaded, or, every sixteenth
// time, later ones are prefetched. Buckets (row_buckets.h) lie in huge pages, where the hardware
// prefetches best by itself.
static inline void fetch_record(const agg_row_piece *piece, uint32_t m, uint32_t i)
{
    const uint8_t *vector = vectors_of(piece) + i * piece->stride;
    size_t some = 16 * piece->stride, left = (piece->count - i) * piece->stride;
    if (piece->rows != NULL || some > PREFETCH_BYTES)
        preload(vector, (m + 7) / 8);
    else if (i % 16 == 0 && left > PREFETCH_AHEAD_SORTING + some)
        prefetch(vector + PREFETCH_AHEAD_SORTING, some);
}

// Sorts the records' positions by row; those of other rows come last. The records, which are read
// in order here and by row next, are brought into the cache.
//   ends: n_rows + 1 numbers; ends[j] becomes where row j's positions end
static void sort_by_row(uint32_t *ends, uint32_t *order, uint32_t *row_of,
                        const agg_row_range *range, const agg_row_piece *piece)
{
    uint32_t sum = 0;
    memset(ends, 0, ((size_t)range->n_rows + 1) * sizeof *ends);
    for (uint32_t i = 0; i < piece->count; i++) {
        row_of[i] = row_at(range, piece, i);
        ends[row_of[i]]++;
        fetch_record(piece, range->m, i);
    }
    for (uint32_t j = 0; j <= range->n_rows; j++) {
        uint32_t n = ends[j];
        ends[j] = sum;
        sum += n;
    }
    for (uint32_t i = 0; i < piece->count; i++) order[ends[row_of[i]]++] = i;
}

void agg_row_fold_piece(const agg_row_range *range, const agg_row_piece *piece, uint32_t *scratch,
                        const agg_bit_columns *columns)
{
    _Alignas(AGG_LINE) uint8_t counters[OWN_COUNTERS] = {0};
    uint32_t n_rows = range->n_rows, *ends = scratch, *order = ends + n_rows + 1,
             *row_of = order + piece->count;
    if (piece->count < n_rows / 8) {
        add_singly(range, piece, columns);
        return;
    }
    sort_by_row(ends, order, row_of, range, piece);
    // Longer vectors, or slower counting, would need more prefetching than the machine takes.
    uint32_t block =
        agg_counters_size(range->m) <= OWN_COUNTERS ? block_of(columns, (range->m + 7) / 8) : 0;
    const row_walk walk = {.range = range,
                           .vectors = vectors_of(piece),
                           .stride = piece->stride,
                           .columns = columns,
                           .order = order,
                           .count = ends[n_rows - 1],
                           .block = block,
                           .counters = block > 0 ? counters : NULL};
    for (uint32_t j = 0, start = 0; j < n_rows; j++) {
        add_row(&walk, j, start, ends[j]);
        start = ends[j];
    }
}

// One piece, whose rows the threads share.
typedef struct shared_piece {
    const agg_row_range *range;
    agg_row_piece piece;
    uint32_t *scratch; // scratch_len numbers a thread
    size_t scratch_len;
    const agg_bit_columns *columns;
} shared_piece;

// Folds the share of the rows that one thread owns.
static void fold_share(void *context, unsigned part, unsigned n_parts)
{
    const shared_piece *s = context;
    uint64_t k = s->range->n_rows;
    uint32_t first = (uint32_t)(k * part / n_parts), end = (uint32_t)(k * (part + 1) / n_parts);
    const agg_row_range own = agg_row_part(s->range, first, end - first);
    if (first < end)
        agg_row_fold_piece(&own, &s->piece, s->scratch + part * s->scratch_len, s->columns);
}

// Returns: n_threads, or fewer where each would have fewer than `least` of the bytes; at most
// AGG_THREADS_MAX.
static unsigned threads_for(unsigned n_threads, size_t bytes, size_t least)
{
    size_t worth = bytes / least;
    if (n_threads > AGG_THREADS_MAX) n_threads = AGG_THREADS_MAX;
    return worth < 2 ? 1 : n_threads < worth ? n_threads : (unsigned)worth;
}

// Returns: how many records are sorted together.
static uint32_t piece_count(const agg_row_range *range, size_t stride, uint32_t count)
{
    uint64_t wanted = AGG_PIECE_BYTES / stride + 1,
             many = (uint64_t)AGG_RECORDS_A_ROW * range->n_rows;
    if (wanted < many) wanted = many;
    return wanted < count ? (uint32_t)wanted : count;
}

agg_err agg_row_fold(const agg_row_range *range, agg_error *error, const uint8_t *records,
                     size_t stride, uint32_t count, unsigned n_threads)
{
    uint32_t piece = piece_count(range, stride, count);
    n_threads = threads_for(n_threads < range->n_rows ? n_threads : range->n_rows, stride * piece,
                            THREAD_BYTES);
    shared_piece s = {.range = range, .columns = agg_bit_columns_of(agg_cpu_chosen())};
    s.scratch_len = agg_row_scratch(range->n_rows, piece);
    s.scratch = agg_alloc(error, n_threads, s.scratch_len * sizeof *s.scratch);
    if (s.scratch == NULL) return AGG_ERR_MEMORY;
    for (uint32_t first = 0, some = 0; first < count; first += some) {
        some = count - first < piece ? count - first : piece;
        s.piece = (agg_row_piece){records + (size_t)first * stride, stride, some, NULL};
        agg_parallel(n_threads, fold_share, &s);
    }
    free(s.scratch);
    return SHOAL_OK;
}

// Vectors of one row, which the threads share.
typedef struct one_row {
    uint32_t *counts;  // m a thread
    uint8_t *counters; // agg_counters_size(m) a thread
    uint32_t m;
    const uint8_t *vectors;
    size_t stride;
    uint32_t count;
    uint32_t block; // vectors that are counted together
    const agg_bit_columns *columns;
} one_row;

// Counts one thread's share of the vectors into counts of its own. They wait in counters, so that a
// few are counted at a time while the next are prefetched.
static void add_share(void *context, unsigned part, unsigned n_parts)
{
    const one_row *row = context;
    const uint8_t *vectors[ORDERED_VECTORS];
    uint32_t first = (uint32_t)((uint64_t)row->count * part / n_parts),
             *counts = row->counts + (size_t)part * row->m;
    uint32_t end = (uint32_t)((uint64_t)row->count * (part + 1) / n_parts), size = (row->m + 7) / 8;
    uint8_t *counters = row->counters + part * agg_counters_size(row->m);
    size_t bytes = row->block * row->stride;
    for (uint32_t pending = 0, some = 0; first < end; first += some) {
        some = end - first < row->block ? end - first : row->block;
        for (uint32_t i = 0; i < some; i++) vectors[i] = row->vectors + (first + i) * row->stride;
        size_t left = (end - first - 1) * row->stride + size;
        if (bytes > PREFETCH_BYTES)
            preload(vectors[0], (some - 1) * row->stride + size);
        else if (left > PREFETCH_AHEAD)
            prefetch(vectors[0] + PREFETCH_AHEAD,
                     bytes < left - PREFETCH_AHEAD ? bytes : left - PREFETCH_AHEAD);
        row->columns->collect(counters, row->m, vectors, some);
        pending += some;
        if (pending + row->block <= AGG_COUNTERS_MAX && some < end - first) continue;
        row->columns->drain(counts, row->m, counters);
        pending = 0;
    }
}

// Adds the threads' counts to the row's.
static void add_threads(uint32_t *counts, const one_row *row, unsigned n_threads)
{
    for (unsigned part = 0; part < n_threads; part++)
        for (uint32_t l = 0; l < row->m; l++) counts[l] += row->counts[(size_t)part * row->m + l];
}

agg_err agg_one_row_fold(uint32_t *counts, uint32_t m, agg_error *error, const uint8_t *vectors,
                         size_t stride, uint32_t count, unsigned n_threads)
{
    const agg_bit_columns *columns = agg_bit_columns_of(agg_cpu_chosen());
    uint32_t block = block_of(columns, stride);
    one_row row = {.counts = counts,
                   .m = m,
                   .vectors = vectors,
                   .stride = stride,
                   .count = count,
                   .block = block > 0 ? block : ORDERED_VECTORS,
                   .columns = columns};
    n_threads = threads_for(n_threads, stride * count, THREAD_BYTES_ORDERED);
    row.counters = agg_alloc(error, n_threads, agg_counters_size(m));
    if (row.counters != NULL && n_threads > 1)
        row.counts = agg_alloc(error, n_threads, m * sizeof *row.counts);
    if (row.counters == NULL || row.counts == NULL) {
        free(row.counters);
        return AGG_ERR_MEMORY;
    }
    agg_parallel(n_threads, add_share, &row);
    free(row.counters);
    if (n_threads < 2) return SHOAL_OK;
    add_threads(counts, &row, n_threads);
    free(row.counts);
    return SHOAL_OK;
}
