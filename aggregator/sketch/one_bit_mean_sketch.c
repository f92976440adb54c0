// SPDX-License-Identifier: Apache-2.0
// One-bit mean sums (Ding, Kulkarni, Yekhanin 2017, section 3, before its affine step): how many
// records are 1. With rows, the sums are how many records of each row are 0, and how many are 1.
#include "one_bit_mean.h"

#include "bytes.h"
#include "sketch.h"

static uint32_t record_size(const agg_shape *shape)
{
    return shape->k > 1 ? 5 : 1;
}

static agg_err check(const agg_shape *shape)
{
    if (shape->k == 1) return shape->m == 1 ? SHOAL_OK : SHOAL_ERR_RANGE;
    return shape->k >= 1 && shape->k <= SHOAL_ONE_BIT_MEAN_K_MAX && shape->m == 2 ? SHOAL_OK
                                                                                  : SHOAL_ERR_RANGE;
}

static agg_err add(agg_sketch *sketch, agg_error *error, const uint8_t *records, size_t stride,
                   uint32_t count, unsigned n_threads)
{
    (void)error;
    (void)n_threads;
    if (sketch->shape.k > 1) {
        for (uint32_t i = 0; i < count; i++) {
            const uint8_t *record = records + i * stride;
            sketch->cells.ones[2 * load32_le(record) + record[4]]++;
        }
        return SHOAL_OK;
    }
    uint32_t ones = 0;
    for (uint32_t i = 0; i < count; i++) ones += records[i * stride];
    sketch->cells.ones[0] += ones;
    return SHOAL_OK;
}

const agg_sketch_kind agg_one_bit_mean_sketch = {
    .id = shoal_one_bit_mean_id,
    .n_max = UINT32_MAX,
    .record_size = record_size,
    .check = check,
    .add = add,
};
