// SPDX-License-Identifier: Apache-2.0
// One-bit mean sums (Ding, Kulkarni, Yekhanin 2017, section 3, before its affine step): how many records are 1.
#include "one_bit_mean.h"

#include "sketch.h"

static uint32_t record_size(const agg_shape *shape)
{
    (void)shape;
    return 1;
}

static shoal_err check(const agg_shape *shape)
{
    return shape->k == 1 && shape->m == 1 ? SHOAL_OK : SHOAL_ERR_RANGE;
}

static shoal_err add(agg_sketch *sketch, agg_error *error, const uint8_t *records, size_t stride, uint32_t count,
                     unsigned n_threads)
{
    (void)error;
    (void)n_threads;
    uint32_t ones = 0;
    for (uint32_t i = 0; i < count; i++) ones += records[i * stride];
    sketch->cells.ones[0] += ones;
    return SHOAL_OK;
}

const agg_sketch_kind agg_one_bit_mean_sketch = {
    shoal_one_bit_mean_id, UINT32_MAX, 0, 0, 0, record_size, check, add,
};
