// SPDX-License-Identifier: Apache-2.0
// Count Mean Sketch sums (apple-2017 Algorithm 3, before its affine step): how many records of a row have each bit set.
//
// Records are grouped by row (counting sort of their positions), then each row's group is counted vertically. Threads own
// disjoint rows, so that there is nothing to lock and the result cannot depend on their number.
#include "cms.h"

#include <stdlib.h>
#include <string.h>

#include "agg_parallel.h"
#include "agg_size.h"
#include "bit_columns.h"
#include "bytes.h"
#include "sketch.h"

static uint32_t record_size(const agg_shape *shape)
{
    return 4 + (shape->m + 7) / 8;
}

static shoal_err check(const agg_shape *shape)
{
    int fits = shape->k >= 1 && shape->k <= SHOAL_CMS_K_MAX && shape->m >= 2 && shape->m <= SHOAL_CMS_M_MAX;
    return fits ? SHOAL_OK : SHOAL_ERR_RANGE;
}

typedef struct grouping {
    agg_sketch *sketch;
    uint32_t *start;         // k + 1 positions in `vectors`: row j's are [start[j], start[j + 1])
    const uint8_t **vectors; // the records' bits, grouped by row
} grouping;

static shoal_err group(grouping *g, agg_error *error, const uint8_t *records, size_t stride, uint32_t count)
{
    uint32_t k = g->sketch->shape.k, *next = agg_alloc(error, k, sizeof *next);
    g->start = agg_alloc(error, (size_t)k + 1, sizeof *g->start);
    g->vectors = agg_alloc(error, count, sizeof *g->vectors);
    if (next == NULL || g->start == NULL || g->vectors == NULL) {
        free(next);
        return AGG_ERR_MEMORY;
    }
    for (uint32_t i = 0; i < count; i++) g->start[load32_le(records + i * stride) + 1]++;
    for (uint32_t j = 0; j < k; j++) g->start[j + 1] += g->start[j];
    memcpy(next, g->start, k * sizeof *next);
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *record = records + i * stride;
        g->vectors[next[load32_le(record)]++] = record + 4;
    }
    free(next);
    return SHOAL_OK;
}

// The share of the rows that one thread owns.
static void add_rows(void *context, unsigned part, unsigned n_parts)
{
    grouping *g = context;
    uint32_t k = g->sketch->shape.k, m = g->sketch->shape.m;
    uint32_t first = (uint32_t)((uint64_t)k * part / n_parts), last = (uint32_t)((uint64_t)k * (part + 1) / n_parts);
    for (uint32_t j = first; j < last; j++) {
        uint32_t n = g->start[j + 1] - g->start[j];
        if (n == 0) continue;
        agg_bit_columns_add(g->sketch->cells.ones + (size_t)j * m, m, g->vectors + g->start[j], n);
        g->sketch->rows[j] += n;
    }
}

static shoal_err add(agg_sketch *sketch, agg_error *error, const uint8_t *records, size_t stride, uint32_t count,
                     unsigned n_threads)
{
    grouping g = {sketch, NULL, NULL};
    shoal_err err = group(&g, error, records, stride, count);
    if (err == SHOAL_OK) agg_parallel(n_threads, add_rows, &g);
    free(g.start);
    free(g.vectors);
    return err;
}

const agg_sketch_kind agg_cms_sketch = {shoal_cms_id, UINT32_MAX, 1, 0, 0, record_size, check, add};
