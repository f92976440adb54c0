// SPDX-License-Identifier: Apache-2.0
// Asymmetric one-hot sums (apple-2022 Appendix A, Algorithm 2, before its affine step): how many records have each bit set.
#include "onehot_asymmetric.h"

#include "bit_columns.h"
#include "sketch.h"

static uint32_t record_size(const agg_shape *shape)
{
    return (shape->m + 7) / 8;
}

static shoal_err check(const agg_shape *shape)
{
    return shape->k == 1 && shape->m >= 2 && shape->m <= SHOAL_ONEHOT_SIZE_MAX ? SHOAL_OK : SHOAL_ERR_RANGE;
}

#define SOME 255u // vectors whose pointers are made at once

static shoal_err add(agg_sketch *sketch, agg_error *error, const uint8_t *records, size_t stride, uint32_t count,
                     unsigned n_threads)
{
    const uint8_t *vectors[SOME];
    (void)error;
    (void)n_threads;
    for (uint32_t first = 0; first < count; first += SOME) {
        uint32_t some = count - first < SOME ? count - first : SOME;
        for (uint32_t i = 0; i < some; i++) vectors[i] = records + (first + i) * stride;
        agg_bit_columns_add(sketch->cells.ones, sketch->shape.m, vectors, some);
    }
    return SHOAL_OK;
}

const agg_sketch_kind agg_onehot_asymmetric_sketch = {
    shoal_onehot_asymmetric_id, UINT32_MAX, 0, 0, 0, record_size, check, add,
};
