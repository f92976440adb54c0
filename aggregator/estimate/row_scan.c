// SPDX-License-Identifier: Apache-2.0
// Rows outside, items inside; see row_scan.h.
#include "row_scan.h"

#include <stdlib.h>
#include <string.h>

#include "agg_parallel.h"
#include "agg_size.h"
#include "poly1.h"

typedef struct scan {
    const shoal_part *part;
    const agg_sketch *sketch;
    agg_row_values values;
    int is_signed;
    const uint64_t *points; // items as points of the hash's field
    size_t n_items, block;
    int64_t *sums;    // n_items per thread
    int32_t *scratch; // m per thread
} scan;

static void add_unsigned(int64_t *sums, const uint64_t *points, size_t n, const int32_t *values, const shoal_poly1 *row,
                         uint32_t m)
{
    for (size_t i = 0; i < n; i++) sums[i] += (int64_t)(uint32_t)values[shoal_poly1_hash(row, points[i], m)];
}

static void add_signed(int64_t *sums, const uint64_t *points, size_t n, const int32_t *values, const shoal_poly1 *row,
                       uint32_t m)
{
    for (size_t i = 0; i < n; i++) sums[i] += values[shoal_poly1_hash(row, points[i], m)];
}

static void scan_row(const scan *s, int64_t *sums, int32_t *values, uint32_t j, size_t first, size_t n)
{
    shoal_poly1 row;
    shoal_poly1_row(&row, s->part->seed, j);
    s->values(values, s->sketch, j);
    (s->is_signed ? add_signed : add_unsigned)(sums + first, s->points + first, n, values, &row, s->part->m);
}

static void scan_rows(void *context, unsigned part, unsigned n_parts)
{
    const scan *s = context;
    uint32_t k = s->part->k;
    uint32_t start = (uint32_t)((uint64_t)k * part / n_parts), stop = (uint32_t)((uint64_t)k * (part + 1) / n_parts);
    int64_t *sums = s->sums + part * s->n_items;
    int32_t *values = s->scratch + (size_t)part * s->part->m;
    for (size_t first = 0; first < s->n_items; first += s->block) {
        size_t n = s->n_items - first < s->block ? s->n_items - first : s->block;
        for (uint32_t j = start; j < stop; j++) scan_row(s, sums, values, j, first, n);
    }
}

static shoal_err run(scan *s, int64_t *support, agg_error *error, const uint64_t *items, unsigned n_threads)
{
    uint64_t *points = agg_alloc(error, s->n_items, sizeof *points);
    s->sums = agg_alloc(error, s->n_items * n_threads, sizeof *s->sums);
    s->scratch = agg_alloc(error, (size_t)s->part->m * n_threads, sizeof *s->scratch);
    s->points = points;
    shoal_err err = points == NULL || s->sums == NULL || s->scratch == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
    if (err == SHOAL_OK) {
        for (size_t i = 0; i < s->n_items; i++) points[i] = shoal_poly1_point(items[i]);
        agg_parallel(n_threads, scan_rows, s);
        memset(support, 0, s->n_items * sizeof *support);
        for (unsigned t = 0; t < n_threads; t++)
            for (size_t i = 0; i < s->n_items; i++) support[i] += s->sums[t * s->n_items + i];
    }
    free(points);
    free(s->sums);
    free(s->scratch);
    return err;
}

shoal_err agg_row_scan(int64_t *support, agg_error *error, const shoal_part *part, const agg_sketch *sketch,
                       agg_row_values values, const uint64_t *items, size_t n_items, size_t block, unsigned n_threads)
{
    int is_signed = agg_sketch_kind_of(sketch->shape.mechanism)->is_signed;
    scan s = {part, sketch, values, is_signed, NULL, n_items, block > 0 ? block : n_items, NULL, NULL};
    if (n_items == 0) return SHOAL_OK;
    if (n_threads < 1) n_threads = 1;
    if (n_threads > AGG_THREADS_MAX) n_threads = AGG_THREADS_MAX;
    return run(&s, support, error, items, n_threads);
}
