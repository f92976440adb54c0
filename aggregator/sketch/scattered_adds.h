// SPDX-License-Identifier: Apache-2.0
// One small addition a record at a random cell of a large sketch: what HCMS and local hashing do.
//
// Done in the records' order each one waits for memory. Grouped by the cells' high bits first (a counting sort of positions), the
// additions of one group stay in a piece of the sketch that fits the second-level cache: two thirds of the time for 128 MiB,
// measured in docs/performance.md. Threads own disjoint groups, thus disjoint cells.
#ifndef SCATTERED_ADDS_H
#define SCATTERED_ADDS_H

#include <stdlib.h>

#include "agg_parallel.h"
#include "agg_size.h"
#include "sketch.h"

#define AGG_GROUPS 64u            // more streams of writes at once are slower again
#define AGG_NEAR_CELLS (1u << 19) // a sketch this small needs no groups
#define AGG_FEW_RECORDS (1u << 16)
#define AGG_RUN (1u << 22) // records grouped at once

// A record's step: twice its cell, plus 1 where 1 is added, plus 0 where 1 is taken away. Cells are at most 2^28.
typedef uint32_t (*agg_step_of)(const uint8_t *record, uint32_t m);

typedef struct agg_steps {
    uint32_t *cells, *grouped;
    uint32_t end[AGG_GROUPS]; // of each group in `grouped`
} agg_steps;

static inline void agg_take_step(uint32_t *cells, uint32_t step)
{
    cells[step >> 1] += 2 * (step & 1) - 1; // unsigned: cells of a forged file wrap, and do no worse
}

static inline void agg_take_groups(void *context, unsigned part, unsigned n_parts)
{
    const agg_steps *s = context;
    uint32_t first = AGG_GROUPS * part / n_parts, last = AGG_GROUPS * (part + 1) / n_parts;
    if (first == last) return;
    uint32_t start = first == 0 ? 0 : s->end[first - 1], stop = s->end[last - 1], *cells = s->cells;
    for (uint32_t i = start; i < stop; i++) agg_take_step(cells, s->grouped[i]);
}

// Adds a run of records by groups.
//   grouped: room for `count` steps
static inline void agg_grouped_adds(agg_sketch *sketch, uint32_t *grouped, const uint8_t *records, size_t stride,
                                    uint32_t count, unsigned n_threads, agg_step_of step_of)
{
    agg_steps s = {sketch->cells.ones, grouped, {0}};
    uint32_t m = sketch->shape.m, shift = 0, sum = 0, next[AGG_GROUPS] = {0};
    while ((2 * sketch->n_cells - 1) >> shift >= AGG_GROUPS) shift++;
    for (uint32_t i = 0; i < count; i++) next[step_of(records + i * stride, m) >> shift]++;
    for (uint32_t g = 0; g < AGG_GROUPS; g++) {
        uint32_t n = next[g];
        next[g] = sum;
        sum += n;
        s.end[g] = sum;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t step = step_of(records + i * stride, m);
        grouped[next[step >> shift]++] = step;
    }
    agg_parallel(n_threads, agg_take_groups, &s);
}

// Adds `count` records; step_of is a static function of the caller, so that it is compiled into the loops.
static inline shoal_err agg_scattered_adds(agg_sketch *sketch, agg_error *error, const uint8_t *records, size_t stride,
                                           uint32_t count, unsigned n_threads, agg_step_of step_of)
{
    if (sketch->n_cells <= AGG_NEAR_CELLS || count < AGG_FEW_RECORDS) {
        for (uint32_t i = 0; i < count; i++)
            agg_take_step(sketch->cells.ones, step_of(records + i * stride, sketch->shape.m));
        return SHOAL_OK;
    }
    uint32_t *grouped = agg_alloc(error, count < AGG_RUN ? count : AGG_RUN, sizeof *grouped);
    if (grouped == NULL) return AGG_ERR_MEMORY;
    for (uint32_t first = 0; first < count; first += AGG_RUN) {
        uint32_t n = count - first < AGG_RUN ? count - first : AGG_RUN;
        agg_grouped_adds(sketch, grouped, records + first * stride, stride, n, n_threads, step_of);
    }
    free(grouped);
    return SHOAL_OK;
}

#endif
