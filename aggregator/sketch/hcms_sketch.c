// SPDX-License-Identifier: Apache-2.0
// Hadamard Count Mean Sketch sums (apple-2017 Algorithm 7, before its transform): the signs sent
// for each row and column.
//
// |sum| is at most the number of records, which stays below 2^31, so no order of adding and merging
// can overflow a cell.
#include "hcms.h"

#include "bytes.h"
#include "scattered_adds.h"

static uint32_t record_size(const agg_shape *shape)
{
    (void)shape;
    return 8;
}

static agg_err check(const agg_shape *shape)
{
    bool is_power = shape->m >= 2 && (shape->m & (shape->m - 1)) == 0;
    bool fits =
        shape->k >= 1 && shape->k <= SHOAL_HCMS_K_MAX && is_power && shape->m <= SHOAL_HCMS_M_MAX;
    return fits ? SHOAL_OK : SHOAL_ERR_RANGE;
}

static uint32_t update_of(const uint8_t *record, uint32_t m)
{
    return 2 * m * load32_le(record) + load32_le(record + 4);
}

static void share(void *context, unsigned part, unsigned n_parts)
{
    agg_scatter_share(context, part, n_parts, update_of);
}

static agg_err add(agg_sketch *sketch, agg_error *error, const uint8_t *records, size_t stride,
                   uint32_t count, unsigned n_threads)
{
    return agg_scattered_adds(sketch, error, records, stride, count, n_threads, update_of, share);
}

const agg_sketch_kind agg_hcms_sketch = {
    .id = shoal_hcms_id,
    .n_max = INT32_MAX,
    .is_signed = true,
    .record_size = record_size,
    .check = check,
    .add = add,
};
