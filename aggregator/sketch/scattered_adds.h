// SPDX-License-Identifier: Apache-2.0
// One addition per record at a random cell of a large sketch, as HCMS and local hashing make them.
// Private to sketch/.
//
// Made in the records' order, each addition would wait for memory. So the updates are partitioned
// into radix buckets by cell first: a bucket's cells are half as large as a core's second-level
// cache. An update is four bytes. It goes to its bucket's write-combining buffer, one cache line,
// and whole lines go around the caches to the bucket. A full bucket is added to its cells, which
// are preloaded in order. Threads own disjoint buckets, so disjoint cells: each thread reads all
// records and takes the updates of its own buckets.
#ifndef SCATTERED_ADDS_H
#define SCATTERED_ADDS_H

#include <stdlib.h>

#include "agg_pages.h"
#include "agg_parallel.h"
#include "agg_size.h"
#include "sketch.h"
#include "stream_copy.h"

#define AGG_CELL_BUCKETS_MAX 256u   // their write-combining buffers fit the first-level cache
#define AGG_BUCKET_CELLS (1u << 17) // 512 KiB; more where a sketch has over 256 times as many cells
#define AGG_NEAR_CELLS (1u << 19)   // a sketch of so many cells fits a cache, and takes no buckets
#define AGG_FEW_RECORDS (1u << 16)  // for so few records buckets do not pay
#define AGG_UPDATES_MAX (1u << 23)  // in all buckets: 32 MiB
#define AGG_LINE_UPDATES 16u        // of a cache line

// Returns: a record's update: twice its cell, plus 1 where 1 is added, plus 0 where 1 is
// subtracted. Cells are at most 2^28.
typedef uint32_t (*agg_update_of)(const uint8_t *record, uint32_t m);

typedef struct agg_scatter {
    const agg_sketch *sketch;
    const uint8_t *records;
    size_t stride;
    uint32_t count;
    uint32_t shift, n_buckets; // an update's bucket is update >> shift
    uint32_t cap;              // updates of a bucket, a multiple of AGG_LINE_UPDATES
    uint32_t *buckets;         // n_buckets of them, aligned to a cache line
} agg_scatter;

// The buckets of one thread, from `first`. Updates of other threads' buckets go to number `n`, and
// are dropped.
typedef struct agg_scatter_part {
    uint32_t first, n;
    uint32_t used[AGG_CELL_BUCKETS_MAX + 1];
    uint32_t combining[AGG_CELL_BUCKETS_MAX + 1][AGG_LINE_UPDATES]; // the last updates of each
} agg_scatter_part;

// Returns: the most bytes that adding `count` records takes.
static inline uint64_t agg_scatter_memory(uint64_t n_cells, uint64_t count)
{
    if (n_cells <= AGG_NEAR_CELLS || count < AGG_FEW_RECORDS) return 0;
    return 4 * (count < AGG_UPDATES_MAX ? count : AGG_UPDATES_MAX) * 9 / 8 +
           (AGG_CELL_BUCKETS_MAX + 1) * 64;
}

static inline void agg_scatter_update(uint32_t *cells, uint32_t update)
{
    cells[update >> 1] +=
        2 * (update & 1) - 1; // unsigned: cells of a forged file wrap, and do no worse
}

// Reads a bucket's cells in order, which brings them into the cache.
static inline void agg_scatter_preload(const agg_scatter *s, uint32_t bucket)
{
    uint64_t first = ((uint64_t)bucket << s->shift) / 2,
             end = first + ((uint64_t)1 << s->shift) / 2;
    if (end > s->sketch->n_cells) end = s->sketch->n_cells;
    for (uint64_t i = first; i < end; i += AGG_LINE_UPDATES)
        (void)*(const volatile uint32_t *)&s->sketch->cells.ones[i];
}

// Adds a bucket's updates to the cells, and empties it. Preloading pays from an update in two lines
// of cells on.
static inline void agg_scatter_fold(const agg_scatter *s, agg_scatter_part *own, uint32_t at)
{
    uint32_t n = own->used[at], whole = n / AGG_LINE_UPDATES * AGG_LINE_UPDATES,
             *cells = s->sketch->cells.ones;
    const uint32_t *updates = s->buckets + (size_t)(own->first + at) * s->cap;
    if (n > (1u << s->shift) / 2 / AGG_LINE_UPDATES / 2) agg_scatter_preload(s, own->first + at);
    for (uint32_t i = 0; i < whole; i++) agg_scatter_update(cells, updates[i]);
    for (uint32_t i = whole; i < n; i++) agg_scatter_update(cells, own->combining[at][i - whole]);
    own->used[at] = 0;
}

static inline void agg_scatter_share(const agg_scatter *s, unsigned part, unsigned n_parts,
                                     agg_update_of update_of)
{
    agg_scatter_part own = {s->n_buckets * part / n_parts, 0, {0}, {{0}}};
    own.n = s->n_buckets * (part + 1) / n_parts - own.first;
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t update = update_of(s->records + i * s->stride, s->sketch->shape.m),
                 at = (update >> s->shift) - own.first;
        if (at > own.n) at = own.n;
        uint32_t used = ++own.used[at];
        own.combining[at][(used - 1) % AGG_LINE_UPDATES] = update;
        if (used % AGG_LINE_UPDATES != 0 || at == own.n) continue;
        size_t to = (size_t)(own.first + at) * s->cap + used - AGG_LINE_UPDATES;
        agg_stream_copy((uint8_t *)(s->buckets + to), (const uint8_t *)own.combining[at],
                        sizeof own.combining[at]);
        if (used == s->cap) agg_scatter_fold(s, &own, at);
    }
    for (uint32_t at = 0; at < own.n; at++) agg_scatter_fold(s, &own, at);
}

// Adds `count` records.
//   update_of: a static function of the caller
//   share:     calls agg_scatter_share with it, as an agg_work over an agg_scatter, so that it is
//              inlined in the loop
// Memory: as agg_scatter_memory says.
static inline agg_err agg_scattered_adds(agg_sketch *sketch, agg_error *error,
                                         const uint8_t *records, size_t stride, uint32_t count,
                                         unsigned n_threads, agg_update_of update_of,
                                         agg_work share)
{
    if (sketch->n_cells <= AGG_NEAR_CELLS || count < AGG_FEW_RECORDS) {
        for (uint32_t i = 0; i < count; i++)
            agg_scatter_update(sketch->cells.ones,
                               update_of(records + i * stride, sketch->shape.m));
        return SHOAL_OK;
    }
    agg_scatter s = {.sketch = sketch, .records = records, .stride = stride, .count = count};
    while (2 * AGG_BUCKET_CELLS >> s.shift > 1) s.shift++;
    while ((2 * sketch->n_cells - 1) >> s.shift >= AGG_CELL_BUCKETS_MAX) s.shift++;
    s.n_buckets = (uint32_t)((2 * sketch->n_cells - 1) >> s.shift) + 1;
    // An eighth more than the mean, so that most buckets are folded once.
    uint32_t n_updates = count < AGG_UPDATES_MAX ? count : AGG_UPDATES_MAX;
    s.cap = (n_updates / s.n_buckets * 9 / 8 / AGG_LINE_UPDATES + 1) * AGG_LINE_UPDATES;
    size_t lines = (size_t)s.n_buckets * s.cap / AGG_LINE_UPDATES + 1;
    uint8_t *memory = agg_alloc(error, lines, AGG_LINE);
    if (memory == NULL) return AGG_ERR_MEMORY;
    agg_pages_advise(memory, AGG_LINE * lines);
    s.buckets = agg_line_start(memory);
    agg_parallel(n_threads < s.n_buckets ? n_threads : s.n_buckets, share, &s);
    free(memory);
    return SHOAL_OK;
}

#endif
