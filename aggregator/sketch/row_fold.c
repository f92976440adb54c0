// SPDX-License-Identifier: Apache-2.0
// Grouping by row and counting; see row_fold.h.
#include "row_fold.h"

#include <stdlib.h>
#include <string.h>

#include "agg_parallel.h"
#include "agg_size.h"
#include "bytes.h"

#define LINE 64u // bytes of a cache line
#define NEAR_VECTORS                                                                               \
    127u // vectors brought in together, of a row that lies in order: half of AGG_PLANES_MOST
#define ASK_BYTES                                                                                  \
    4352u // of vectors that are asked of memory together: of more at once, the machine loses time
#define AHEAD                                                                                      \
    8448u // bytes between what is counted and what is asked for, of a row that lies in order
#define FAR_AHEAD 16896u // the same, of records that are to be grouped
#define OWN_PLANES 3072u // agg_planes_size of ASK_BYTES / 16 bytes
#define NEARLY_FULL (AGG_PLANES_MOST - 16u)
#define THREAD_BYTES                                                                               \
    ((size_t)1 << 18) // of records to group, below which a thread costs more than it saves
#define STREAM_BYTES ((size_t)1 << 20) // the same, of a row that lies in order

// Reads a byte of each cache line, in order: what is then taken in another order comes from the
// cache.
static inline void bring_near(const uint8_t *from, size_t len)
{
    for (size_t i = 0; i < len; i += LINE) (void)*(const volatile uint8_t *)(from + i);
}

// Asks memory for bytes, for the second-level cache, without waiting for them.
static inline void ask(const uint8_t *from, size_t len)
{
    for (size_t i = 0; i < len; i += LINE) __builtin_prefetch(from + i, 0, 2);
    __asm__ volatile(""); // gcc leaves out calls of what does nothing but ask
}

// Vectors that are counted together: few enough to ask for as many meanwhile. 0: that is not worth
// it.
static uint32_t step_of(const agg_bit_columns *columns, size_t stride)
{
    uint32_t step = columns->worth;
    if (step * stride > ASK_BYTES) return 0;
    while (2 * step * stride <= ASK_BYTES / 2 && 2 * step <= NEAR_VECTORS) step *= 2;
    return step;
}

// A piece whose records are taken row by row.
typedef struct row_walk {
    const agg_row_range *range;
    const uint8_t *vectors; // the piece's
    size_t stride;
    const agg_bit_columns *columns;
    const uint32_t *order; // positions of the range's records, by row
    uint32_t count;        // of them
    uint32_t step;   // records that are counted together, while memory is asked for the next; 0: it
                     // is not asked
    uint8_t *planes; // all zero, for a row that has none of its own; NULL: its vectors are added to
                     // its counts at once
} row_walk;

// Adds the vectors that wait in a row's planes to its counts.
static void empty_row(const agg_row_range *range, uint32_t j, uint8_t *planes, uint8_t *kept,
                      const agg_bit_columns *columns)
{
    agg_lock *lock =
        range->locks != NULL ? &range->locks[(range->first + j) % AGG_ROW_LOCKS] : NULL;
    if (lock != NULL) agg_lock_take(lock);
    columns->empty(range->cells + (size_t)j * range->m, range->m, planes);
    range->rows[j] += *kept;
    if (lock != NULL) agg_lock_leave(lock);
    *kept = 0;
}

// Asks for what counting a row will read and write beside its records: for share number `share` of
// n_shares.
static void ask_row(const agg_row_range *range, uint32_t j, uint32_t share, uint32_t n_shares)
{
    size_t counts_len = range->m * sizeof *range->cells, planes_len = agg_planes_size(range->m);
    const uint8_t *counts = (const uint8_t *)(range->cells + (size_t)j * range->m);
    if (range->planes == NULL) {
        size_t some = (counts_len / n_shares / LINE + 1) * LINE, at = share * some;
        if (at < counts_len) ask(counts + at, counts_len - at < some ? counts_len - at : some);
        return;
    }
    if (share > 0) return;
    ask(range->planes + j * planes_len, planes_len);
    if (range->kept[j] >= NEARLY_FULL) ask(counts, counts_len);
}

// Asks for the records from `first` on of the walk's order.
static void ask_records(const row_walk *walk, uint32_t first, uint32_t count)
{
    size_t size = (walk->range->m + 7) / 8;
    for (uint32_t i = first; i < first + count && i < walk->count; i++) {
        const uint8_t *vector = walk->vectors + walk->order[i] * walk->stride;
        ask(vector, size);
        ask(vector + size - 1, 1); // where it begins within a line, it ends in one more
    }
}

// Adds the records [first, end) of the walk's order to row j, whose they are.
static void add_row(const row_walk *walk, uint32_t j, uint32_t first, uint32_t end)
{
    const agg_row_range *range = walk->range;
    const uint8_t *vectors[AGG_PLANES_MOST];
    uint32_t step = walk->step > 0 ? walk->step : AGG_PLANES_MOST,
             n_steps = (end - first) / step + 1;
    uint8_t none = 0, *kept = range->planes != NULL ? &range->kept[j] : &none;
    uint8_t *planes =
        range->planes != NULL ? range->planes + j * agg_planes_size(range->m) : walk->planes;
    for (uint32_t some = 0, done = 0; first < end; first += some, done++) {
        uint32_t room = AGG_PLANES_MOST - *kept < step ? AGG_PLANES_MOST - *kept : step;
        some = end - first < room ? end - first : room;
        for (uint32_t i = 0; i < some; i++)
            vectors[i] = walk->vectors + walk->order[first + i] * walk->stride;
        if (walk->step > 0) {
            ask_records(walk, first + step, some);
            if (j + 1 < range->n_rows) ask_row(range, j + 1, done, n_steps);
        }
        if (planes == NULL) {
            walk->columns->add(range->cells + (size_t)j * range->m, range->m, vectors, some);
            range->rows[j] += some;
            continue;
        }
        walk->columns->keep(planes, range->m, vectors, some);
        *kept = (uint8_t)(*kept + some);
        if (*kept == AGG_PLANES_MOST) empty_row(range, j, planes, kept, walk->columns);
    }
    if (none > 0) empty_row(range, j, planes, kept, walk->columns);
}

void agg_row_empty(const agg_row_range *range, const agg_bit_columns *columns)
{
    for (uint32_t j = 0; j < range->n_rows; j++)
        if (range->kept[j] > 0)
            empty_row(range, j, range->planes + j * agg_planes_size(range->m), &range->kept[j],
                      columns);
}

// A row of the range, or n_rows for one that is not in it.
static inline uint32_t row_at(const agg_row_range *range, const agg_row_piece *piece, uint32_t i)
{
    const uint8_t *from =
        piece->rows != NULL ? piece->rows + 4 * (size_t)i : piece->records + i * piece->stride;
    uint32_t row = load32_le(from) - range->first; // wraps below the range
    return row < range->n_rows ? row : range->n_rows;
}

// The bits of a piece's first record.
static const uint8_t *vectors_of(const agg_row_piece *piece)
{
    return piece->records + (piece->rows != NULL ? 0 : 4);
}

// Fewer records than there are rows: one by one.
static void add_singly(const agg_row_range *range, const agg_row_piece *piece,
                       const agg_bit_columns *columns)
{
    for (uint32_t i = 0; i < piece->count; i++) {
        const row_walk alone = {range, vectors_of(piece), piece->stride, columns, &i, 1, 0, NULL};
        uint32_t row = row_at(range, piece, i);
        if (row < range->n_rows) add_row(&alone, row, 0, 1);
    }
}

// Record i's turn among the records in order: brings it near, or asks for later ones, sixteen at a
// time. Areas (folder.h) lie in large pages, where the machine guesses better by itself what comes.
static inline void bring_records(const agg_row_piece *piece, uint32_t m, uint32_t i)
{
    const uint8_t *vector = vectors_of(piece) + i * piece->stride;
    size_t some = 16 * piece->stride, left = (piece->count - i) * piece->stride;
    if (piece->rows != NULL || some > ASK_BYTES)
        bring_near(vector, (m + 7) / 8);
    else if (i % 16 == 0 && left > FAR_AHEAD + some)
        ask(vector + FAR_AHEAD, some);
}

// Sorts the records' positions by row; those of other rows go behind. Brings the records near: they
// come in order here, and in another one next.
//   ends: n_rows + 1 numbers; ends[j] becomes where row j's positions end
static void sort_by_row(uint32_t *ends, uint32_t *order, uint32_t *row_of,
                        const agg_row_range *range, const agg_row_piece *piece)
{
    uint32_t sum = 0;
    memset(ends, 0, ((size_t)range->n_rows + 1) * sizeof *ends);
    for (uint32_t i = 0; i < piece->count; i++) {
        row_of[i] = row_at(range, piece, i);
        ends[row_of[i]]++;
        bring_records(piece, range->m, i);
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
    _Alignas(LINE) uint8_t planes[OWN_PLANES] = {0};
    uint32_t n_rows = range->n_rows, *ends = scratch, *order = ends + n_rows + 1,
             *row_of = order + piece->count;
    if (piece->count < n_rows / 8) {
        add_singly(range, piece, columns);
        return;
    }
    sort_by_row(ends, order, row_of, range, piece);
    // Of vectors that are longer, or counted more slowly, as many as are counted together would be
    // too many to ask for.
    uint32_t step =
        agg_planes_size(range->m) <= OWN_PLANES ? step_of(columns, (range->m + 7) / 8) : 0;
    const row_walk walk = {range, vectors_of(piece), piece->stride, columns,
                           order, ends[n_rows - 1],  step,          step > 0 ? planes : NULL};
    for (uint32_t j = 0, start = 0; j < n_rows; j++) {
        add_row(&walk, j, start, ends[j]);
        start = ends[j];
    }
}

typedef struct row_folding {
    const agg_row_range *range;
    agg_row_piece piece;
    uint32_t *scratch; // scratch_len numbers a thread
    size_t scratch_len;
    const agg_bit_columns *columns;
} row_folding;

// The share of the rows that one thread owns.
static void fold_share(void *context, unsigned part, unsigned n_parts)
{
    const row_folding *f = context;
    uint32_t k = f->range->n_rows;
    uint32_t first = (uint32_t)((uint64_t)k * part / n_parts),
             last = (uint32_t)((uint64_t)k * (part + 1) / n_parts);
    const agg_row_range own = agg_row_part(f->range, first, last - first);
    if (first < last)
        agg_row_fold_piece(&own, &f->piece, f->scratch + part * f->scratch_len, f->columns);
}

// At most n_threads, and AGG_THREADS_MAX; fewer where each would have fewer than `least` of the
// bytes.
static unsigned threads_for(unsigned n_threads, size_t bytes, size_t least)
{
    size_t worth = bytes / least;
    if (n_threads > AGG_THREADS_MAX) n_threads = AGG_THREADS_MAX;
    return worth < 2 ? 1 : n_threads < worth ? n_threads : (unsigned)worth;
}

// Records that are grouped together.
static uint32_t piece_of(const agg_row_range *range, size_t stride, uint32_t count)
{
    uint64_t wanted = AGG_PIECE_BYTES / stride + 1,
             many = (uint64_t)AGG_RECORDS_A_ROW * range->n_rows;
    if (range->planes == NULL && wanted < many) wanted = many;
    return wanted < count ? (uint32_t)wanted : count;
}

agg_err agg_row_fold(const agg_row_range *range, agg_error *error, const uint8_t *records,
                     size_t stride, uint32_t count, unsigned n_threads)
{
    uint32_t piece = piece_of(range, stride, count);
    n_threads = threads_for(n_threads < range->n_rows ? n_threads : range->n_rows, stride * piece,
                            THREAD_BYTES);
    row_folding f = {.range = range, .columns = agg_bit_columns_of(agg_cpu_chosen())};
    f.scratch_len = agg_row_scratch(range->n_rows, piece);
    f.scratch = agg_alloc(error, n_threads, f.scratch_len * sizeof *f.scratch);
    if (f.scratch == NULL) return AGG_ERR_MEMORY;
    for (uint32_t first = 0, some = 0; first < count; first += some) {
        some = count - first < piece ? count - first : piece;
        f.piece = (agg_row_piece){records + (size_t)first * stride, stride, some, NULL};
        agg_parallel(n_threads, fold_share, &f);
    }
    free(f.scratch);
    return SHOAL_OK;
}

typedef struct one_row {
    uint32_t *counts; // m a thread
    uint8_t *planes;  // agg_planes_size(m) a thread
    uint32_t m;
    const uint8_t *vectors;
    size_t stride;
    uint32_t count;
    uint32_t step; // vectors that are counted together
    const agg_bit_columns *columns;
} one_row;

// One thread's share of the vectors, into counts of its own. They wait in planes, so that a few are
// counted at a time and memory works meanwhile.
static void add_share(void *context, unsigned part, unsigned n_parts)
{
    const one_row *row = context;
    const uint8_t *vectors[NEAR_VECTORS];
    uint32_t first = (uint32_t)((uint64_t)row->count * part / n_parts),
             *counts = row->counts + (size_t)part * row->m;
    uint32_t end = (uint32_t)((uint64_t)row->count * (part + 1) / n_parts), size = (row->m + 7) / 8;
    uint8_t *planes = row->planes + part * agg_planes_size(row->m);
    size_t bytes = row->step * row->stride;
    for (uint32_t kept = 0, some = 0; first < end; first += some) {
        some = end - first < row->step ? end - first : row->step;
        for (uint32_t i = 0; i < some; i++) vectors[i] = row->vectors + (first + i) * row->stride;
        size_t left = (end - first - 1) * row->stride + size;
        if (bytes > ASK_BYTES)
            bring_near(vectors[0], (some - 1) * row->stride + size);
        else if (left > AHEAD)
            ask(vectors[0] + AHEAD, bytes < left - AHEAD ? bytes : left - AHEAD);
        row->columns->keep(planes, row->m, vectors, some);
        kept += some;
        if (kept + row->step <= AGG_PLANES_MOST && some < end - first) continue;
        row->columns->empty(counts, row->m, planes);
        kept = 0;
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
    uint32_t step = step_of(columns, stride);
    one_row row = {counts, NULL, m, vectors, stride, count, step > 0 ? step : NEAR_VECTORS,
                   columns};
    n_threads = threads_for(n_threads, stride * count, STREAM_BYTES);
    row.planes = agg_alloc(error, n_threads, agg_planes_size(m));
    if (row.planes != NULL && n_threads > 1)
        row.counts = agg_alloc(error, n_threads, m * sizeof *row.counts);
    if (row.planes == NULL || row.counts == NULL) {
        free(row.planes);
        return AGG_ERR_MEMORY;
    }
    agg_parallel(n_threads, add_share, &row);
    free(row.planes);
    if (n_threads < 2) return SHOAL_OK;
    add_threads(counts, &row, n_threads);
    free(row.counts);
    return SHOAL_OK;
}
