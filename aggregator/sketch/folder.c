// SPDX-License-Identifier: Apache-2.0
// Collecting records, in the order they came or by row; see folder.h.
#include "folder.h"

#include <stdlib.h>
#include <string.h>

#include "agg_pages.h"
#include "agg_parallel.h"
#include "agg_size.h"
#include "bytes.h"
#include "scattered_adds.h"
#include "stream_copy.h"

#define LEAST_BYTES ((size_t)1 << 20)  // of a buffer whose size nobody chose
#define FAR_BYTES ((size_t)64 << 20)   // the same, where more records are ever better
#define MOST_BYTES ((size_t)256 << 20) // the same, at most
#define PLANES_BYTES ((size_t)8 << 20) // of planes that the cache holds beside a piece of records
#define LANES_BYTES ((size_t)32 << 20) // of the planes of all threads, where each has its own
#define AREA_BYTES                                                                                 \
    ((size_t)1 << 20) // of an area's records: they are read twice, from the second-level cache
#define SHARED_BYTES ((size_t)1 << 19) // of records, below which one thread is faster
#define LINE 64u
#define AHEAD                                                                                      \
    2048u // bytes that are asked of memory before their turn: between stores the machine does not
          // guess them
#define SPAN_BYTES                                                                                 \
    ((size_t)48 << 20) // of records between which threads come together for their areas
#define SPAN_RECORDS ((uint32_t)1 << 21) // the same, where nothing asks for it
#define END_BYTES                                                                                  \
    1024u // of an area's end: enough lines to be worth sending, and few enough for all ends to stay
          // near

static const agg_sketch_kind *kind_of(const agg_sketch *part)
{
    return agg_sketch_kind_of(part->shape.mechanism);
}

static int is_rows_alone(const agg_accumulator *acc)
{
    return acc->n_parts == 1 && !agg_accumulator_keeps_records(acc) &&
           kind_of(&acc->parts[0])->is_rows_of_bits;
}

// Bytes of records that give each row of a part enough of them.
static uint64_t bytes_for_rows(const agg_accumulator *acc, const agg_sketch *part)
{
    return (uint64_t)AGG_RECORDS_A_ROW * part->shape.k * acc->record_size;
}

// Of one lane.
static size_t planes_bytes(const agg_accumulator *acc)
{
    const agg_shape *shape = &acc->parts[0].shape;
    return shape->k * agg_planes_size(shape->m);
}

static int wants_planes(const agg_accumulator *acc)
{
    const agg_sketch *part = &acc->parts[0];
    return is_rows_alone(acc) && bytes_for_rows(acc, part) > AGG_PIECE_BYTES &&
           planes_bytes(acc) <= PLANES_BYTES;
}

// The buffer that makes adding fast.
static size_t fast_bytes(const agg_accumulator *acc)
{
    uint64_t bytes = LEAST_BYTES;
    if (wants_planes(acc)) return AGG_PIECE_BYTES;
    for (uint32_t i = 0; i < acc->n_parts; i++) {
        const agg_sketch *part = &acc->parts[i];
        uint64_t wanted = kind_of(part)->is_rows_of_bits   ? bytes_for_rows(acc, part)
                          : part->n_cells > AGG_NEAR_CELLS ? FAR_BYTES
                                                           : 0;
        if (wanted > bytes) bytes = wanted;
    }
    // Each run takes a pass over all records that are kept.
    if (agg_accumulator_keeps_records(acc) && bytes < FAR_BYTES) bytes = FAR_BYTES;
    return bytes < MOST_BYTES ? (size_t)bytes : MOST_BYTES;
}

// Whether areas keep bits and rows apart: bits that fill cache lines go straight into them.
static int has_rows_beside(const agg_accumulator *acc)
{
    return (acc->record_size - 4) % LINE == 0;
}

// Lanes' parts of the areas: at least four times what a part has to be a multiple of, so that each
// begins a cache line.
static void plan_area_lanes(agg_folder *f, size_t record_size)
{
    agg_areas *areas = &f->areas;
    uint32_t whole = record_size > END_BYTES / 2 ? 1 : LINE, most = areas->cap / whole / 4;
    f->n_lanes = f->n_threads < most ? f->n_threads : most > 0 ? most : 1;
    areas->lane_cap = f->n_lanes > 1 ? areas->cap / f->n_lanes / whole * whole : areas->cap;
    areas->cap = areas->lane_cap * f->n_lanes;
}

static void plan_areas(agg_folder *f, const agg_accumulator *acc, size_t bytes)
{
    agg_areas *areas = &f->areas;
    uint32_t last = acc->parts[0].shape.k - 1;
    while ((last >> areas->row_shift) + 1 > bytes / AREA_BYTES) areas->row_shift++;
    areas->n = (last >> areas->row_shift) + 1;
    areas->bytes = bytes / areas->n / LINE * LINE;
    areas->cap = (uint32_t)(areas->bytes / acc->record_size);
    areas->stride = acc->record_size - (has_rows_beside(acc) ? 4 : 0);
    plan_area_lanes(f, acc->record_size);
    if (has_rows_beside(acc)) areas->bytes = areas->cap * areas->stride;
    areas->scratch_len = agg_row_scratch((uint32_t)1 << areas->row_shift, areas->cap);
    f->cap = areas->cap * areas->n;
}

// Everything but the memory.
static void plan(agg_folder *f, const agg_accumulator *acc, size_t bytes, unsigned n_threads)
{
    size_t fast = fast_bytes(acc), size = acc->record_size;
    if (bytes == 0 || bytes > fast) bytes = fast;
    size_t cap = bytes / size > 0 ? bytes / size : 1;
    memset(f, 0, sizeof *f);
    f->cap = cap < UINT32_MAX ? (uint32_t)cap : UINT32_MAX;
    f->n_threads = n_threads < 1 ? 1 : n_threads < AGG_THREADS_MAX ? n_threads : AGG_THREADS_MAX;
    f->n_lanes = 1;
    if (wants_planes(acc) && f->n_threads * planes_bytes(acc) <= LANES_BYTES)
        f->n_lanes = f->n_threads;
    if (is_rows_alone(acc) && !wants_planes(acc) && bytes > AGG_PIECE_BYTES)
        plan_areas(f, acc, bytes);
}

// What a part's mechanism takes while it adds `count` records.
static uint64_t scratch_of(const agg_sketch *part, uint64_t count, unsigned n_threads)
{
    if (kind_of(part)->is_rows_of_bits && part->shape.k > 1)
        return 4 * n_threads * (uint64_t)agg_row_scratch(part->shape.k, (uint32_t)count);
    return agg_scatter_memory(part->n_cells,
                              count); // of those that do not scatter it is too much, at worst
}

agg_folder_memory agg_folder_memory_of(const agg_accumulator *acc, size_t bytes, unsigned n_threads)
{
    agg_folder f;
    plan(&f, acc, bytes, n_threads);
    agg_folder_memory memory = {f.areas.n > 0 ? f.areas.n * (uint64_t)f.areas.bytes
                                              : (uint64_t)f.cap * acc->record_size,
                                0};
    if (f.areas.n > 0) {
        memory.beside = 4 * f.n_threads * (uint64_t)f.areas.scratch_len;
        memory.beside +=
            f.n_lanes * (uint64_t)f.areas.n * (has_rows_beside(acc) ? 4u : END_BYTES + 4u);
        if (has_rows_beside(acc)) memory.beside += 4 * (uint64_t)f.areas.n * f.areas.cap;
        return memory;
    }
    for (uint32_t i = 0; i < acc->n_parts; i++) {
        uint64_t scratch = scratch_of(&acc->parts[i], f.cap, f.n_threads);
        if (scratch > memory.beside) memory.beside = scratch;
    }
    if (agg_accumulator_keeps_records(acc)) memory.beside += 16 * (uint64_t)f.cap;
    if (wants_planes(acc))
        memory.beside += f.n_lanes * ((uint64_t)planes_bytes(acc) + acc->parts[0].shape.k);
    return memory;
}

static agg_err alloc_planes(agg_folder *f, agg_error *error, const agg_sketch *part)
{
    size_t scratch = agg_row_scratch(part->shape.k, f->cap) * sizeof *f->lane_scratch;
    f->planes = agg_alloc(error, f->n_lanes, part->shape.k * agg_planes_size(part->shape.m));
    f->kept = agg_alloc(error, f->n_lanes, part->shape.k);
    if (f->planes == NULL || f->kept == NULL) return AGG_ERR_MEMORY;
    if (f->n_lanes < 2) return SHOAL_OK;
    f->lane_scratch = agg_alloc(error, f->n_lanes, scratch);
    return f->lane_scratch != NULL ? SHOAL_OK : AGG_ERR_MEMORY;
}

static agg_err alloc_areas(agg_folder *f, agg_error *error)
{
    agg_areas *areas = &f->areas;
    areas->used = agg_alloc(error, f->n_lanes, areas->n * sizeof *areas->used);
    areas->scratch = agg_alloc(error, f->n_threads, areas->scratch_len * sizeof *areas->scratch);
    if (has_rows_beside(f->acc))
        areas->rows = agg_alloc(error, areas->n, (size_t)areas->cap * 4);
    else
        areas->ends = agg_alloc(error, f->n_lanes, (size_t)areas->n * END_BYTES);
    int has_all = areas->used != NULL && areas->scratch != NULL &&
                  (areas->rows != NULL || areas->ends != NULL);
    return has_all ? SHOAL_OK : AGG_ERR_MEMORY;
}

// The guard, and the locks, that several lanes take.
static agg_err make_locks(agg_folder *f, agg_error *error)
{
    for (; f->n_locks < 1 + AGG_ROW_LOCKS; f->n_locks++)
        if (!agg_lock_init(f->n_locks == 0 ? &f->guard : &f->locks[f->n_locks - 1]))
            return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "no lock for the threads");
    return SHOAL_OK;
}

agg_err agg_folder_init(agg_folder *folder, agg_error *error, agg_accumulator *acc, size_t bytes,
                        unsigned n_threads)
{
    plan(folder, acc, bytes, n_threads);
    size_t size = folder->areas.n > 0 ? folder->areas.n * folder->areas.bytes
                                      : (size_t)folder->cap * acc->record_size;
    folder->acc = acc;
    folder->buffer = agg_alloc(error, size + LINE, 1);
    agg_err err = folder->buffer != NULL ? SHOAL_OK : AGG_ERR_MEMORY;
    if (err == SHOAL_OK && folder->areas.n > 0) err = alloc_areas(folder, error);
    if (err == SHOAL_OK && wants_planes(acc)) err = alloc_planes(folder, error, &acc->parts[0]);
    if (err == SHOAL_OK && folder->n_lanes > 1) err = make_locks(folder, error);
    if (err != SHOAL_OK) {
        agg_folder_release(folder);
        return err;
    }
    folder->aligned = folder->buffer + (LINE - (uintptr_t)folder->buffer % LINE) % LINE;
    if (size > FAR_BYTES) agg_pages_advise(folder->buffer, size);
    return SHOAL_OK;
}

void agg_folder_release(agg_folder *folder)
{
    free(folder->buffer);
    free(folder->planes);
    free(folder->kept);
    free(folder->lane_scratch);
    for (unsigned i = 0; i < folder->n_locks; i++)
        agg_lock_release(i == 0 ? &folder->guard : &folder->locks[i - 1]);
    free(folder->areas.used);
    free(folder->areas.ends);
    free(folder->areas.rows);
    free(folder->areas.scratch);
    memset(folder, 0, sizeof *folder);
}

static agg_row_range all_rows(const agg_folder *f)
{
    const agg_sketch *sketch = &f->acc->parts[0];
    return (agg_row_range){sketch->cells.ones, sketch->rows, 0,       sketch->shape.k,
                           sketch->shape.m,    f->planes,    f->kept, NULL};
}

// All rows, with a lane's planes.
static agg_row_range lane_rows(agg_folder *f, unsigned lane)
{
    agg_row_range rows = all_rows(f);
    rows.planes += lane * planes_bytes(f->acc);
    rows.kept += (size_t)lane * rows.n_rows;
    if (f->n_lanes > 1) rows.locks = f->locks;
    return rows;
}

// Notes that records come, before they are added: there must be room for them.
static agg_err take_room(agg_folder *f, agg_error *error, uint64_t count)
{
    agg_err err = agg_accumulator_check_room(f->acc, error, f->waiting + count);
    if (err == SHOAL_OK) f->waiting += count;
    return err;
}

// ---- areas ----

// A lane's part of an area.
static uint8_t *part_of(const agg_folder *f, unsigned lane, uint32_t area)
{
    return f->aligned + area * f->areas.bytes + (size_t)lane * f->areas.lane_cap * f->areas.stride;
}

// The rows of its records, where they lie beside it.
static uint8_t *rows_of(const agg_folder *f, unsigned lane, uint32_t area)
{
    return f->areas.rows + 4 * ((size_t)area * f->areas.cap + (size_t)lane * f->areas.lane_cap);
}

// Its first `count` records, which may reach into the next lane's part.
static agg_row_piece piece_of(const agg_folder *f, unsigned lane, uint32_t area, uint32_t count)
{
    agg_row_piece piece = {part_of(f, lane, area), f->areas.stride, count, NULL};
    if (f->areas.rows != NULL) piece.rows = rows_of(f, lane, area);
    return piece;
}

static uint32_t *used_of(const agg_folder *f, unsigned lane)
{
    return f->areas.used + (size_t)lane * f->areas.n;
}

static uint8_t *end_of(const agg_folder *f, unsigned lane, uint32_t area)
{
    return f->areas.ends + ((size_t)lane * f->areas.n + area) * END_BYTES;
}

// Appends a record to an area. Bits that fill lines are sent at once; else bytes gather in the
// area's end, of which whole lines are sent.
static inline void append(agg_folder *f, unsigned lane, uint32_t area, const uint8_t *record,
                          size_t size)
{
    uint8_t *to = part_of(f, lane, area);
    uint32_t used = used_of(f, lane)[area]++;
    if (f->areas.rows != NULL) {
        memcpy(rows_of(f, lane, area) + 4 * (size_t)used, record, 4);
        agg_stream_copy(to + used * (size - 4), record + 4, size - 4);
        return;
    }
    size_t at = used * size, held = at % (END_BYTES / 2);
    if (size > END_BYTES / 2) {
        memcpy(to + at, record, size);
        return;
    }
    uint8_t *end = end_of(f, lane, area);
    // The end holds the bytes from the last multiple of half of it on.
    memcpy(end + held, record, size);
    if (held + size < END_BYTES / 2) return;
    agg_stream_copy(to + at - held, end, END_BYTES / 2);
    memcpy(end, end + END_BYTES / 2, held + size - END_BYTES / 2);
}

// Brings what is left of an area's end into it.
static void settle(agg_folder *f, unsigned lane, uint32_t area)
{
    size_t size = f->acc->record_size, len = used_of(f, lane)[area] * size,
           held = len % (END_BYTES / 2);
    if (f->areas.rows != NULL || size > END_BYTES / 2) return;
    memcpy(part_of(f, lane, area) + len - held, end_of(f, lane, area), held);
}

static agg_row_range area_rows(const agg_folder *f, uint32_t area)
{
    const agg_row_range all = all_rows(f);
    uint32_t shift = f->areas.row_shift, row = area << shift, left = all.n_rows - row;
    return agg_row_part(&all, row, left >> shift > 0 ? (uint32_t)1 << shift : left);
}

// Folds what a lane's part of an area holds, while other lanes are at work.
static void fold_part(agg_folder *f, unsigned lane, uint32_t area, const agg_bit_columns *columns)
{
    const agg_row_range rows = area_rows(f, area);
    const agg_row_piece piece = piece_of(f, lane, area, used_of(f, lane)[area]);
    agg_lock *lock = f->n_lanes > 1 ? &f->locks[area % AGG_ROW_LOCKS] : NULL;
    settle(f, lane, area);
    if (lock != NULL) agg_lock_take(lock);
    agg_row_fold_piece(&rows, &piece, f->areas.scratch + lane * f->areas.scratch_len, columns);
    if (lock != NULL) agg_lock_leave(lock);
    used_of(f, lane)[area] = 0;
}

// Folds what all lanes' parts of an area hold, as one piece: what lies between them becomes records
// of no row.
static void fold_area(agg_folder *f, uint32_t area, uint32_t *scratch,
                      const agg_bit_columns *columns)
{
    const agg_row_range rows = area_rows(f, area);
    const agg_areas *areas = &f->areas;
    agg_row_piece piece = piece_of(f, 0, area, 0);
    uint8_t *row = areas->rows != NULL ? rows_of(f, 0, area) : part_of(f, 0, area);
    size_t row_stride = areas->rows != NULL ? 4 : piece.stride;
    for (unsigned lane = 0; lane < f->n_lanes; lane++) {
        uint32_t used = used_of(f, lane)[area], first = lane * areas->lane_cap;
        if (used == 0) continue;
        for (; piece.count < first; piece.count++)
            store32_le(row + piece.count * row_stride, UINT32_MAX);
        settle(f, lane, area);
        piece.count = first + used;
        used_of(f, lane)[area] = 0;
    }
    agg_row_fold_piece(&rows, &piece, scratch, columns);
}

static uint32_t used_of_all(const agg_folder *f, uint32_t area)
{
    uint32_t used = 0;
    for (unsigned lane = 0; lane < f->n_lanes; lane++) used += used_of(f, lane)[area];
    return used;
}

// Areas with at least so many records, for the threads to take one after another.
typedef struct full_areas {
    agg_folder *folder;
    uint32_t least, next;
    const agg_bit_columns *columns;
} full_areas;

static uint32_t next_area(full_areas *full)
{
    agg_folder *f = full->folder;
    if (f->n_lanes > 1) agg_lock_take(&f->guard);
    while (full->next < f->areas.n && used_of_all(f, full->next) < full->least) full->next++;
    uint32_t area = full->next < f->areas.n ? full->next++ : f->areas.n;
    if (f->n_lanes > 1) agg_lock_leave(&f->guard);
    return area;
}

static void fold_areas(void *context, unsigned part, unsigned n_parts)
{
    full_areas *full = context;
    agg_folder *f = full->folder;
    (void)n_parts;
    for (uint32_t area; (area = next_area(full)) < f->areas.n;)
        fold_area(f, area, f->areas.scratch + part * f->areas.scratch_len, full->columns);
}

// When threads have come together: folds the areas if some part of one would be full before they do
// so again. Folded by a lane alone, a row would get fewer records at a time.
static void fold_full_areas(agg_folder *f)
{
    agg_areas *areas = &f->areas;
    uint32_t fullest = 0, n_parts = areas->n * f->n_lanes;
    full_areas full = {f, areas->cap / 2, 0, agg_bit_columns_of(agg_cpu_chosen())};
    for (uint32_t i = 0; i < n_parts; i++)
        if (areas->used[i] > fullest) fullest = areas->used[i];
    uint32_t more = fullest > areas->fullest ? fullest - areas->fullest : 0;
    areas->fullest = fullest;
    if (fullest + more < areas->lane_cap) return;
    agg_parallel(f->n_lanes, fold_areas, &full);
    areas->fullest = 0;
}

// ---- lanes ----

// Once a lane's records are worth it, what it writes: its planes, and its share of the counts.
static void bring_lane(agg_folder *f, unsigned lane, uint32_t count)
{
    const agg_sketch *sketch = &f->acc->parts[0];
    uint64_t before = f->lane_count[lane], worth = sketch->shape.k, n = sketch->n_cells;
    f->lane_count[lane] += count;
    if (before >= worth || f->lane_count[lane] < worth) return;
    agg_pages_bring(f->planes + lane * planes_bytes(f->acc), planes_bytes(f->acc));
    size_t first = (size_t)(n * lane / f->n_lanes), end = (size_t)(n * (lane + 1) / f->n_lanes);
    agg_pages_bring(sketch->cells.ones + first, (end - first) * sizeof *sketch->cells.ones);
}

static void append_run(agg_folder *f, unsigned lane, const uint8_t *record, uint32_t count,
                       const agg_bit_columns *columns)
{
    size_t size = f->acc->record_size;
    const uint32_t *used = used_of(f, lane), cap = f->areas.lane_cap;
    for (uint32_t i = 0; i < count; i++, record += size) {
        uint32_t area = load32_le(record) >> f->areas.row_shift;
        __builtin_prefetch(record + AHEAD);
        __builtin_prefetch(record + AHEAD + LINE);
        append(f, lane, area, record, size);
        if (used[area] == cap) fold_part(f, lane, area, columns);
    }
    agg_stream_end();
}

static void add_to_lane(agg_folder *f, unsigned lane, const uint8_t *records, uint32_t count,
                        const agg_bit_columns *columns)
{
    size_t size = f->acc->record_size;
    if (f->areas.n > 0) {
        append_run(f, lane, records, count, columns);
        return;
    }
    bring_lane(f, lane, count);
    const agg_row_range rows = lane_rows(f, lane);
    uint32_t *scratch = f->lane_scratch + lane * agg_row_scratch(rows.n_rows, f->cap);
    for (uint32_t at = 0, some; at < count; at += some) {
        some = count - at < f->cap ? count - at : f->cap;
        const agg_row_piece piece = {records + at * size, size, some, NULL};
        agg_row_fold_piece(&rows, &piece, scratch, columns);
    }
}

// Runs for the lanes to share: each takes as many records as the others, those that come one after
// another.
typedef struct lane_runs {
    agg_folder *folder;
    const agg_folder_run *runs;
    uint32_t n_runs;
    uint64_t count; // of all runs
    const agg_bit_columns *columns;
} lane_runs;

static void add_share(void *context, unsigned part, unsigned n_parts)
{
    const lane_runs *shared = context;
    agg_folder *f = shared->folder;
    unsigned lane = (f->turn + part) % f->n_lanes;
    uint64_t skip = shared->count * part / n_parts,
             left = shared->count * (part + 1) / n_parts - skip;
    for (uint32_t r = 0; r < shared->n_runs && left > 0; r++) {
        const agg_folder_run *run = &shared->runs[r];
        uint64_t at = skip < run->count ? skip : run->count,
                 some = run->count - at < left ? run->count - at : left;
        add_to_lane(f, lane, run->records + at * f->acc->record_size, (uint32_t)some,
                    shared->columns);
        skip -= at;
        left -= some;
    }
}

static agg_err add_to_lanes(agg_folder *f, agg_error *error, const agg_folder_run *runs,
                            uint32_t n_runs)
{
    lane_runs shared = {f, runs, n_runs, 0, agg_bit_columns_of(agg_cpu_chosen())};
    for (uint32_t r = 0; r < n_runs; r++) shared.count += runs[r].count;
    agg_err err = take_room(f, error, shared.count);
    if (err != SHOAL_OK) return err;
    agg_parallel(shared.count * f->acc->record_size < SHARED_BYTES ? 1 : f->n_lanes, add_share,
                 &shared);
    f->turn = (f->turn + 1) % f->n_lanes;
    if (f->areas.n > 0 && f->n_lanes > 1) fold_full_areas(f);
    return SHOAL_OK;
}

// Whole spans come to nine tenths of the areas: parts of them fill up unevenly.
uint32_t agg_folder_span(const agg_folder *folder)
{
    uint32_t most = folder->cap / 10 * 9;
    if (folder->areas.n == 0) return SPAN_RECORDS;
    return most / (uint32_t)((uint64_t)most * folder->acc->record_size / SPAN_BYTES + 1);
}

agg_err agg_folder_add_lane(agg_folder *folder, agg_error *error, unsigned lane,
                            const agg_folder_run *run)
{
    agg_lock_take(&folder->guard);
    agg_err err = take_room(folder, error, run->count);
    agg_lock_leave(&folder->guard);
    if (err != SHOAL_OK) return err;
    add_to_lane(folder, lane, run->records, run->count, agg_bit_columns_of(agg_cpu_chosen()));
    return SHOAL_OK;
}

// Empties all lanes' planes, of a thread's share of the rows.
static void empty_share(void *context, unsigned part, unsigned n_parts)
{
    agg_folder *f = context;
    uint32_t k = f->acc->parts[0].shape.k;
    uint32_t first = (uint32_t)((uint64_t)k * part / n_parts),
             last = (uint32_t)((uint64_t)k * (part + 1) / n_parts);
    for (unsigned lane = 0; lane < f->n_lanes; lane++) {
        const agg_row_range rows = lane_rows(f, lane),
                            own = agg_row_part(&rows, first, last - first);
        agg_row_empty(&own, agg_bit_columns_of(agg_cpu_chosen()));
    }
}

// Adds records where they lie.
static agg_err fold(agg_folder *f, agg_error *error, const uint8_t *records, uint32_t count)
{
    const agg_folder_run one = {records, count};
    if (f->planes == NULL) return agg_accumulator_add(f->acc, error, records, count, f->n_threads);
    if (f->n_lanes > 1) return add_to_lanes(f, error, &one, 1);
    agg_row_range rows = all_rows(f);
    agg_err err = take_room(f, error, count);
    if (err == SHOAL_OK)
        err = agg_row_fold(&rows, error, records, f->acc->record_size, count, f->n_threads);
    return err;
}

static agg_err fold_buffer(agg_folder *f, agg_error *error)
{
    agg_err err = f->count > 0 ? fold(f, error, f->buffer, f->count) : SHOAL_OK;
    f->count = 0;
    return err;
}

static agg_err add_in_order(agg_folder *f, agg_error *error, const uint8_t *records, uint32_t count)
{
    size_t size = f->acc->record_size;
    while (count > 0) {
        uint32_t room = f->cap - f->count, some = count < room ? count : room;
        memcpy(f->buffer + f->count * size, records, some * size);
        f->count += some;
        records += some * size;
        count -= some;
        agg_err err = f->count == f->cap ? fold_buffer(f, error) : SHOAL_OK;
        if (err != SHOAL_OK) return err;
    }
    return SHOAL_OK;
}

agg_err agg_folder_add_runs(agg_folder *folder, agg_error *error, const agg_folder_run *runs,
                            uint32_t n_runs)
{
    agg_err err = SHOAL_OK;
    uint64_t count = 0;
    if (folder->areas.n > 0) return add_to_lanes(folder, error, runs, n_runs);
    for (uint32_t r = 0; r < n_runs; r++) count += runs[r].count;
    if (folder->n_lanes > 1 &&
        count >= folder->cap) { // enough for the threads to share, where it lies
        err = fold_buffer(folder, error);
        return err == SHOAL_OK ? add_to_lanes(folder, error, runs, n_runs) : err;
    }
    for (uint32_t r = 0; r < n_runs && err == SHOAL_OK; r++)
        err = agg_folder_add(folder, error, runs[r].records, runs[r].count);
    return err;
}

agg_err agg_folder_add(agg_folder *folder, agg_error *error, const uint8_t *records, uint32_t count)
{
    const agg_folder_run one = {records, count};
    if (folder->areas.n > 0) return add_to_lanes(folder, error, &one, 1);
    // A run that fills the buffer by itself, or nearly where planes wait for the next anyhow, is
    // added where it lies.
    if (count < (folder->planes != NULL ? folder->cap / 4 : folder->cap))
        return add_in_order(folder, error, records, count);
    agg_err err = fold_buffer(folder, error);
    return err == SHOAL_OK ? fold(folder, error, records, count) : err;
}

agg_err agg_folder_flush(agg_folder *folder, agg_error *error)
{
    full_areas all = {folder, 1, 0, agg_bit_columns_of(agg_cpu_chosen())};
    agg_err err = folder->areas.n == 0 ? fold_buffer(folder, error) : SHOAL_OK;
    if (err != SHOAL_OK) return err;
    if (folder->planes != NULL) agg_parallel(folder->n_lanes, empty_share, folder);
    if (folder->areas.n > 0) agg_parallel(folder->n_lanes, fold_areas, &all);
    folder->acc->n += folder->waiting;
    folder->waiting = folder->areas.fullest = 0;
    return SHOAL_OK;
}
