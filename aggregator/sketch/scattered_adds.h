// SPDX-License-Identifier: Apache-2.0
// One small addition a record at a random cell of a large sketch: what HCMS and local hashing do.
//
// Done in the records' order each one waits for memory. Here they are laid out by pieces of the
// sketch first, each piece as large as half a core's cache: a step, four bytes, goes to its piece's
// line, and whole lines around the caches to the piece's area. A full area is added to its piece,
// which is read from front to back before that. Threads own disjoint pieces, thus disjoint cells:
// each reads all records and takes its own.
#ifndef SCATTERED_ADDS_H
#define SCATTERED_ADDS_H

#include <stdlib.h>

#include "agg_pages.h"
#include "agg_parallel.h"
#include "agg_size.h"
#include "sketch.h"
#include "stream_copy.h"

#define AGG_PIECES_MAX 256u        // their lines stay in the first-level cache
#define AGG_PIECE_CELLS (1u << 17) // 512 KiB, unless the sketch has more than 256 of them
#define AGG_NEAR_CELLS (1u << 19)  // a sketch this small needs no pieces
#define AGG_FEW_RECORDS (1u << 16)
#define AGG_RUN (1u << 23) // steps for which there is room: 32 MiB
#define AGG_LINE_STEPS 16u // of a cache line

// A record's step: twice its cell, plus 1 where 1 is added, plus 0 where 1 is taken away. Cells are
// at most 2^28.
typedef uint32_t (*agg_step_of)(const uint8_t *record, uint32_t m);

typedef struct agg_scatter {
    const agg_sketch *sketch;
    const uint8_t *records;
    size_t stride;
    uint32_t count;
    uint32_t shift, n_pieces; // a step's piece is step >> shift
    uint32_t cap;             // steps of an area, a multiple of AGG_LINE_STEPS
    uint32_t *areas;          // n_pieces of them, at a cache line
} agg_scatter;

// The pieces of one thread, from `first`; what belongs to others goes to number `n`.
typedef struct agg_scatter_part {
    uint32_t first, n;
    uint32_t used[AGG_PIECES_MAX + 1];
    uint32_t lines[AGG_PIECES_MAX + 1][AGG_LINE_STEPS]; // the last steps of each area
} agg_scatter_part;

// Returns: bytes that adding `count` records takes, at most.
static inline uint64_t agg_scatter_memory(uint64_t n_cells, uint64_t count)
{
    if (n_cells <= AGG_NEAR_CELLS || count < AGG_FEW_RECORDS) return 0;
    return 4 * (count < AGG_RUN ? count : AGG_RUN) * 9 / 8 + (AGG_PIECES_MAX + 1) * 64;
}

static inline void agg_take_step(uint32_t *cells, uint32_t step)
{
    cells[step >> 1] +=
        2 * (step & 1) - 1; // unsigned: cells of a forged file wrap, and do no worse
}

// Reads a piece's cells in order, when they are about to be needed all over.
static inline void agg_bring_piece(const agg_scatter *s, uint32_t piece)
{
    uint64_t first = ((uint64_t)piece << s->shift) / 2, end = first + ((uint64_t)1 << s->shift) / 2;
    if (end > s->sketch->n_cells) end = s->sketch->n_cells;
    for (uint64_t i = first; i < end; i += AGG_LINE_STEPS)
        (void)*(const volatile uint32_t *)&s->sketch->cells.ones[i];
}

// Adds a piece's steps.
static inline void agg_take_piece(const agg_scatter *s, agg_scatter_part *own, uint32_t at)
{
    uint32_t n = own->used[at], whole = n / AGG_LINE_STEPS * AGG_LINE_STEPS,
             *cells = s->sketch->cells.ones;
    const uint32_t *steps = s->areas + (size_t)(own->first + at) * s->cap;
    if (n > (1u << s->shift) / 2 / AGG_LINE_STEPS / 2) agg_bring_piece(s, own->first + at);
    for (uint32_t i = 0; i < whole; i++) agg_take_step(cells, steps[i]);
    for (uint32_t i = whole; i < n; i++) agg_take_step(cells, own->lines[at][i - whole]);
    own->used[at] = 0;
}

static inline void agg_scatter_share(const agg_scatter *s, unsigned part, unsigned n_parts,
                                     agg_step_of step_of)
{
    agg_scatter_part own = {s->n_pieces * part / n_parts, 0, {0}, {{0}}};
    own.n = s->n_pieces * (part + 1) / n_parts - own.first;
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t step = step_of(s->records + i * s->stride, s->sketch->shape.m),
                 at = (step >> s->shift) - own.first;
        if (at > own.n) at = own.n;
        uint32_t used = ++own.used[at];
        own.lines[at][(used - 1) % AGG_LINE_STEPS] = step;
        if (used % AGG_LINE_STEPS != 0 || at == own.n) continue;
        size_t to = (size_t)(own.first + at) * s->cap + used - AGG_LINE_STEPS;
        agg_stream_copy((uint8_t *)(s->areas + to), (const uint8_t *)own.lines[at],
                        sizeof own.lines[at]);
        if (used == s->cap) agg_take_piece(s, &own, at);
    }
    for (uint32_t at = 0; at < own.n; at++) agg_take_piece(s, &own, at);
}

// Adds `count` records.
//   step_of: a static function of the caller
//   share:   agg_scatter_share with it, as an agg_work over an agg_scatter, so that it is compiled
//   into the loop
// Memory: as agg_scatter_memory says.
static inline agg_err agg_scattered_adds(agg_sketch *sketch, agg_error *error,
                                         const uint8_t *records, size_t stride, uint32_t count,
                                         unsigned n_threads, agg_step_of step_of, agg_work share)
{
    if (sketch->n_cells <= AGG_NEAR_CELLS || count < AGG_FEW_RECORDS) {
        for (uint32_t i = 0; i < count; i++)
            agg_take_step(sketch->cells.ones, step_of(records + i * stride, sketch->shape.m));
        return SHOAL_OK;
    }
    agg_scatter s = {.sketch = sketch, .records = records, .stride = stride, .count = count};
    while (2 * AGG_PIECE_CELLS >> s.shift > 1) s.shift++;
    while ((2 * sketch->n_cells - 1) >> s.shift >= AGG_PIECES_MAX) s.shift++;
    s.n_pieces = (uint32_t)((2 * sketch->n_cells - 1) >> s.shift) + 1;
    // An eighth more than the mean, so that most areas are taken once.
    uint32_t run = count < AGG_RUN ? count : AGG_RUN;
    s.cap = (run / s.n_pieces * 9 / 8 / AGG_LINE_STEPS + 1) * AGG_LINE_STEPS;
    size_t lines = (size_t)s.n_pieces * s.cap / AGG_LINE_STEPS + 1;
    uint8_t *memory = agg_alloc(error, lines, 64);
    if (memory == NULL) return AGG_ERR_MEMORY;
    agg_pages_advise(memory, 64 * lines);
    s.areas = (uint32_t *)(void *)(memory + (64 - (uintptr_t)memory % 64) % 64);
    agg_parallel(n_threads < s.n_pieces ? n_threads : s.n_pieces, share, &s);
    free(memory);
    return SHOAL_OK;
}

#endif
