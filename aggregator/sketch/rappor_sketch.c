// SPDX-License-Identifier: Apache-2.0
// RAPPOR sums: how many records of each cohort have each bit set. A record is laid out as a CMS
// record whose row is the cohort, so the same code counts it.
#include "rappor.h"

#include <math.h>

#include "sketch.h"

static uint32_t record_size(const agg_shape *shape)
{
    return 4 + (shape->m + 7) / 8;
}

static agg_err check(const agg_shape *shape)
{
    bool fits = shape->k >= 1 && shape->k <= SHOAL_RAPPOR_COHORTS_MAX && shape->m >= 2 &&
                shape->m <= SHOAL_RAPPOR_BITS_MAX;
    return fits ? SHOAL_OK : SHOAL_ERR_RANGE;
}

static agg_err add(agg_sketch *sketch, agg_error *error, const uint8_t *records, size_t stride,
                   uint32_t count, unsigned n_threads)
{
    return agg_cms_sketch.add(sketch, error, records, stride, count, n_threads);
}

// A device's permanent bits and its cohort may be the same in all its records. Its fresh coins set
// a bit with probability p or q.
static double log_likeliest(const shoal_part *part)
{
    double p = ldexp((double)part->pqf_threshold[SHOAL_RAPPOR_P], -64),
           q = ldexp((double)part->pqf_threshold[SHOAL_RAPPOR_Q], -64);
    return part->m * log(fmax(fmax(p, 1 - p), fmax(q, 1 - q)));
}

const agg_sketch_kind agg_rappor_sketch = {
    .id = shoal_rappor_id,
    .n_max = UINT32_MAX,
    .has_rows = true,
    .is_rows_of_bits = true,
    .record_size = record_size,
    .check = check,
    .add = add,
    .log_likeliest = log_likeliest,
};
