// SPDX-License-Identifier: Apache-2.0
// Releasing sums of recipes of aggregation "sum", and loading what is released; see store.h, which
// includes this header.
#ifndef STORE_RELEASE_H
#define STORE_RELEASE_H

#include "accumulator.h"
#include "period.h"

typedef struct agg_store agg_store;

// Releases every sum that may be loaded, for good; does nothing for recipes of another aggregation.
//   n_records: how many more records may be loaded now
//   today: days since 1970-01-01; periods that end before this day are closed
agg_err agg_store_release(agg_store *store, uint64_t *n_records, agg_error *error,
                          int64_t collection, const shoal_recipe *recipe,
                          int32_t today) SHOAL_MUST_CHECK;

// Sums the released blocks within a span: agg_store_load of a recipe of aggregation "sum".
agg_err agg_store_load_released(agg_store *store, agg_accumulator *acc, agg_error *error,
                                int64_t collection, const shoal_recipe *recipe,
                                agg_span span) SHOAL_MUST_CHECK;

#endif
