// SPDX-License-Identifier: Apache-2.0
// How many records of one bit an entry have each bit set: the sums of both one-hot encodings.
// Private to sketch/.
#ifndef ONEHOT_SUMS_H
#define ONEHOT_SUMS_H

#include "onehot_asymmetric.h"
#include "row_fold.h"
#include "sketch.h"

// The three functions of agg_sketch_kind.
static inline uint32_t onehot_record_size(const agg_shape *shape)
{
    return (shape->m + 7) / 8;
}

static inline agg_err onehot_check(const agg_shape *shape)
{
    return shape->k == 1 && shape->m >= 2 && shape->m <= SHOAL_ONEHOT_SIZE_MAX ? SHOAL_OK
                                                                               : SHOAL_ERR_RANGE;
}

static inline agg_err onehot_add(agg_sketch *sketch, agg_error *error, const uint8_t *records,
                                 size_t stride, uint32_t count, unsigned n_threads)
{
    return agg_one_row_fold(sketch->cells.ones, sketch->shape.m, error, records, stride, count,
                            n_threads);
}

#endif
