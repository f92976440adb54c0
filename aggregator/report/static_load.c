// SPDX-License-Identifier: Apache-2.0
// Loading; see static_load.h.
#include "static_load.h"

agg_err agg_static_load_sum(agg_accumulator *sum, agg_error *error, const agg_static_report *r)
{
    agg_err err = r->load(r->context, sum, error, 0);
    if (err != SHOAL_OK) return err;
    for (size_t i = 1; err == SHOAL_OK && i < r->n; i++) {
        agg_accumulator one;
        err = r->load(r->context, &one, error, i);
        if (err != SHOAL_OK) break;
        err = agg_accumulator_merge(sum, error, &one);
        if (err != SHOAL_OK) agg_error_prefix(error, "%s", r->names[i]);
        agg_accumulator_release(&one);
    }
    if (err != SHOAL_OK) agg_accumulator_release(sum);
    return err;
}
