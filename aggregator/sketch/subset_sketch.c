// SPDX-License-Identifier: Apache-2.0
// Subset selection sums: how many records' sets contain each index. The sketch is one row of m
// cells; k is the size of a set.
#include "subset.h"

#include <math.h>

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

static double log_choose(uint32_t n, uint32_t k)
{
    double sum = 0;
    for (uint32_t i = 0; i < k; i++) sum += log((double)(n - i) / (i + 1));
    return sum;
}

// A set that holds the own index has the probability (1 - T)/C(s-1, d-1), any other T/C(s-1, d), in
// units of 2^64.
static double log_likeliest(const shoal_part *part)
{
    double lie = ldexp((double)part->threshold, -64);
    return fmax(log1p(-lie) - log_choose(part->m - 1, part->k - 1),
                log(lie) - log_choose(part->m - 1, part->k));
}

const agg_sketch_kind agg_subset_sketch = {
    .id = shoal_subset_id,
    .n_max = UINT32_MAX,
    .is_one_row = true,
    .record_size = record_size,
    .check = check,
    .add = add,
    .log_likeliest = log_likeliest,
};
