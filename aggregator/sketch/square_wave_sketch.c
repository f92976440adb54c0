// SPDX-License-Identifier: Apache-2.0
// Square wave sums: how many records give each place. The sketch is one row of m cells; k is the
// width of the window.
#include "square_wave.h"

#include "bytes.h"
#include "sketch.h"

static uint32_t record_size(const agg_shape *shape)
{
    (void)shape;
    return 4;
}

static agg_err check(const agg_shape *shape)
{
    bool fits = shape->k >= 1 && shape->k <= SHOAL_PLACE_STEPS;
    return fits && shape->m == SHOAL_PLACE_STEPS + shape->k ? SHOAL_OK : SHOAL_ERR_RANGE;
}

static agg_err add(agg_sketch *sketch, agg_error *error, const uint8_t *records, size_t stride,
                   uint32_t count, unsigned n_threads)
{
    (void)error;
    (void)n_threads;
    for (uint32_t i = 0; i < count; i++) sketch->cells.ones[load32_le(records + i * stride)]++;
    return SHOAL_OK;
}

const agg_sketch_kind agg_square_wave_sketch = {
    .id = shoal_square_wave_id,
    .n_max = UINT32_MAX,
    .is_one_row = true,
    .record_size = record_size,
    .check = check,
    .add = add,
};
