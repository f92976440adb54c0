// SPDX-License-Identifier: Apache-2.0
// How many records of one bit an entry have each bit set: the sums of both one-hot encodings. Private to sketch/.
#ifndef ONEHOT_SUMS_H
#define ONEHOT_SUMS_H

#include "bit_columns.h"
#include "onehot_asymmetric.h"
#include "sketch.h"

// The three functions of agg_sketch_kind.
static inline uint32_t onehot_record_size(const agg_shape *shape)
{
    return (shape->m + 7) / 8;
}

static inline shoal_err onehot_check(const agg_shape *shape)
{
    return shape->k == 1 && shape->m >= 2 && shape->m <= SHOAL_ONEHOT_SIZE_MAX ? SHOAL_OK : SHOAL_ERR_RANGE;
}

#define SOME 255u // vectors whose pointers are made at once

static inline shoal_err onehot_add(agg_sketch *sketch, agg_error *error, const uint8_t *records, size_t stride,
                                   uint32_t count, unsigned n_threads)
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

#endif
