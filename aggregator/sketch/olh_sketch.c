// SPDX-License-Identifier: Apache-2.0
// Local hashing sums: how many records give each answer in each row. The supports of Wang et al.
// 2017 are read from these histograms.
#include "olh.h"

#include "bytes.h"
#include "scattered_adds.h"

static uint32_t record_size(const agg_shape *shape)
{
    (void)shape;
    return 4;
}

static agg_err check(const agg_shape *shape)
{
    bool is_power = shape->m >= 2 && (shape->m & (shape->m - 1)) == 0;
    bool fits =
        shape->k >= 1 && shape->k <= SHOAL_OLH_K_MAX && is_power && shape->m <= SHOAL_OLH_G_MAX;
    return fits ? SHOAL_OK : SHOAL_ERR_RANGE;
}

// A record is the position of its cell.
static uint32_t update_of(const uint8_t *record, uint32_t m)
{
    (void)m;
    return 2 * load32_le(record) + 1;
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

const agg_sketch_kind agg_olh_sketch = {
    .id = shoal_olh_id,
    .n_max = UINT32_MAX,
    .record_size = record_size,
    .check = check,
    .add = add,
};
