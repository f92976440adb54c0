// SPDX-License-Identifier: Apache-2.0
// Subset selection sums: how many records' sets contain each index. The sketch is one row of m
// cells; k is the size of a set.
#include "subset.h"

#include "bytes.h"
#include "sketch.h"

static uint32_t record_size(const agg_shape *shape)
{
    return 4 * shape->k;
}

static agg_err check(const agg_shape *shape)
{
    bool fits = shape->m >= 3 && shape->m <= SHOAL_SUBSET_SIZE_MAX + 1 && shape->k >= 1 &&
                shape->k < shape->m;
    return fits && shape->k <= SHOAL_SUBSET_D_MAX ? SHOAL_OK : SHOAL_ERR_RANGE;
}

static agg_err add(agg_sketch *sketch, agg_error *error, const uint8_t *records, size_t stride,
                   uint32_t count, unsigned n_threads)
{
    (void)error;
    (void)n_threads;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < sketch->shape.k; j++)
            sketch->cells.ones[load32_le(records + i * stride + (size_t)4 * j)]++;
    return SHOAL_OK;
}

const agg_sketch_kind agg_subset_sketch = {
    .id = shoal_subset_id,
    .n_max = UINT32_MAX,
    .is_one_row = true,
    .record_size = record_size,
    .check = check,
    .add = add,
};
