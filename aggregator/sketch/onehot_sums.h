// SPDX-License-Identifier: Apache-2.0
// The sums of both one-hot encodings, whose records have one bit per entry: how many records have
// each bit set. Private to sketch/.
#ifndef ONEHOT_SUMS_H
#define ONEHOT_SUMS_H

#include <math.h>

#include "onehot_asymmetric.h"
#include "row_fold.h"
#include "sketch.h"

// These are the functions of agg_sketch_kind.
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

// A bit that is not the device's own is 0 with probability 1 - q, and the own bit is on neither
// side more likely than that.
static inline double onehot_log_likeliest(const shoal_part *part)
{
    return part->m * log1p(-ldexp((double)part->threshold, -64));
}

#endif
