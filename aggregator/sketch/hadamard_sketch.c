// SPDX-License-Identifier: Apache-2.0
// Hadamard response sums: the signs sent for each row of each block's matrix, and the number of
// records of each block.
//
// |sum| is at most the number of records, which stays below 2^31, so no order of adding and merging
// can overflow a cell.
#include "hadamard.h"

#include "bytes.h"
#include "sketch.h"

static uint32_t record_size(const agg_shape *shape)
{
    (void)shape;
    return 4;
}

static bool is_power_of_two(uint32_t x)
{
    return x != 0 && (x & (x - 1)) == 0;
}

static agg_err check(const agg_shape *shape)
{
    uint64_t cells = (uint64_t)shape->k * shape->m;
    bool fits =
        is_power_of_two(shape->k) && is_power_of_two(shape->m) && cells <= SHOAL_HADAMARD_SIZE_MAX;
    return fits && cells >= 2 ? SHOAL_OK : SHOAL_ERR_RANGE;
}

static agg_err add(agg_sketch *sketch, agg_error *error, const uint8_t *records, size_t stride,
                   uint32_t count, unsigned n_threads)
{
    uint32_t shift = 0;
    (void)error;
    (void)n_threads;
    while (sketch->shape.m >> shift > 1) shift++;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index_sign = load32_le(records + i * stride);
        sketch->cells.ones[index_sign >> 1] +=
            2 * (index_sign & 1) - 1; // unsigned: cells of a forged file wrap, and do no worse
        sketch->rows[index_sign >> 1 >> shift]++;
    }
    return SHOAL_OK;
}

const agg_sketch_kind agg_hadamard_sketch = {
    .id = shoal_hadamard_id,
    .n_max = INT32_MAX,
    .has_rows = true,
    .is_signed = true,
    .record_size = record_size,
    .check = check,
    .add = add,
};
