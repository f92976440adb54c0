// SPDX-License-Identifier: Apache-2.0
// The functions that all sketches share; see sketch.h.
#include "sketch.h"

#include <stdlib.h>
#include <string.h>

#include "agg_pages.h"
#include "agg_size.h"
#include "cms.h"

static const agg_sketch_kind *const kinds[] = {
#define SHOAL_MECHANISM(id, stem, name) &agg_##stem##_sketch,
#include "mechanisms.def"
#undef SHOAL_MECHANISM
};

const agg_sketch_kind *agg_sketch_kind_of(uint32_t mechanism)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i]->id == mechanism) return kinds[i];
    return NULL;
}

agg_err agg_sketch_init(agg_sketch *sketch, agg_error *error, const agg_shape *shape)
{
    return agg_sketch_init_rows(sketch, error, shape, (agg_part_rows){0, 1, 1});
}

agg_err agg_sketch_init_rows(agg_sketch *sketch, agg_error *error, const agg_shape *shape,
                             agg_part_rows rows)
{
    const agg_sketch_kind *kind = agg_sketch_kind_of(shape->mechanism);
    memset(sketch, 0, sizeof *sketch);
    if (kind == NULL) return agg_fail_core(error, SHOAL_ERR_MECHANISM, AGG_EXIT_RUNTIME);
    uint64_t n_cells = (uint64_t)(kind->is_one_row ? 1 : shape->k) * shape->m;
    if (kind->check(shape) != SHOAL_OK || n_cells == 0 || n_cells > SHOAL_SKETCH_CELLS_MAX)
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME,
                        "no sketch has %u rows of %u columns", shape->k, shape->m);
    sketch->shape = *shape;
    n_cells = n_cells / rows.n * (rows.end - rows.first);
    sketch->n_cells = n_cells;
    sketch->n_rows = kind->has_rows ? shape->k / rows.n * (rows.end - rows.first) : 0;
    sketch->cells.ones = agg_alloc(error, (size_t)n_cells, sizeof *sketch->cells.ones);
    if (kind->has_rows)
        sketch->rows = agg_alloc(error, (size_t)sketch->n_rows, sizeof *sketch->rows);
    if (sketch->cells.ones == NULL || (kind->has_rows && sketch->rows == NULL)) {
        agg_sketch_release(sketch);
        return AGG_ERR_MEMORY;
    }
    agg_pages_advise(sketch->cells.ones, (size_t)n_cells * sizeof *sketch->cells.ones);
    return SHOAL_OK;
}

void agg_sketch_release(agg_sketch *sketch)
{
    free(sketch->cells.ones);
    free(sketch->rows);
    memset(sketch, 0, sizeof *sketch);
}

void agg_sketch_merge(agg_sketch *into, const agg_sketch *from)
{
    // Two's complement makes the sum of signed cells the sum of their bits.
    for (uint64_t i = 0; i < into->n_cells; i++) into->cells.ones[i] += from->cells.ones[i];
    for (uint64_t i = 0; i < into->n_rows; i++) into->rows[i] += from->rows[i];
}
