// SPDX-License-Identifier: Apache-2.0
// Sums of longitudinal local hashing: how many records give each answer in each row.
#include "loloha.h"

#include "bytes.h"
#include "sketch.h"

static uint32_t record_size(const agg_shape *shape)
{
    (void)shape;
    return 4;
}

// The rows are those of a projective space over the field of m elements: (m^d - 1)/(m - 1).
static agg_err check(const agg_shape *shape)
{
    bool is_power = shape->m >= 2 && (shape->m & (shape->m - 1)) == 0;
    if (!is_power || shape->m > SHOAL_LOLOHA_G_MAX) return SHOAL_ERR_RANGE;
    for (uint32_t rows = 1; rows <= SHOAL_LOLOHA_ROWS_MAX; rows = rows * shape->m + 1)
        if (rows == shape->k) return SHOAL_OK;
    return SHOAL_ERR_RANGE;
}

static agg_err add(agg_sketch *sketch, agg_error *error, const uint8_t *records, size_t stride,
                   uint32_t count, unsigned n_threads)
{
    (void)error;
    (void)n_threads;
    for (uint32_t i = 0; i < count; i++) sketch->cells.ones[load32_le(records + i * stride)]++;
    return SHOAL_OK;
}

const agg_sketch_kind agg_loloha_sketch = {
    .id = shoal_loloha_id,
    .n_max = UINT32_MAX,
    .record_size = record_size,
    .check = check,
    .add = add,
};
