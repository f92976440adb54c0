// SPDX-License-Identifier: Apache-2.0
// Count Mean Sketch sums (apple-2017 Algorithm 3, before its affine step): how many records of a
// row have each bit set.
#include "cms.h"

#include <math.h>

#include "row_fold.h"
#include "sketch.h"

static uint32_t record_size(const agg_shape *shape)
{
    return 4 + (shape->m + 7) / 8;
}

static agg_err check(const agg_shape *shape)
{
    bool fits = shape->k >= 1 && shape->k <= SHOAL_CMS_K_MAX && shape->m >= 2 &&
                shape->m <= SHOAL_CMS_M_MAX;
    return fits ? SHOAL_OK : SHOAL_ERR_RANGE;
}

static agg_err add(agg_sketch *sketch, agg_error *error, const uint8_t *records, size_t stride,
                   uint32_t count, unsigned n_threads)
{
    const agg_row_range all = {.cells = sketch->cells.ones,
                               .rows = sketch->rows,
                               .n_rows = sketch->shape.k,
                               .m = sketch->shape.m};
    if (sketch->shape.k > 1) return agg_row_fold(&all, error, records, stride, count, n_threads);
    sketch->rows[0] += count;
    return agg_one_row_fold(all.cells, all.m, error, records + 4, stride, count, n_threads);
}

// Every bit is on its likelier side with probability 1 - q at most, whatever the value. The row is
// left out of the bound, since parts of compounds draw some rows alone.
static double log_likeliest(const shoal_part *part)
{
    return part->m * log1p(-ldexp((double)part->threshold, -64));
}

const agg_sketch_kind agg_cms_sketch = {
    .id = shoal_cms_id,
    .n_max = UINT32_MAX,
    .has_rows = true,
    .is_rows_of_bits = true,
    .record_size = record_size,
    .check = check,
    .add = add,
    .log_likeliest = log_likeliest,
};
