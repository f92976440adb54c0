// SPDX-License-Identifier: Apache-2.0
// Retention: closed blocks become coarser as they age; see store.h, which includes this header.
#ifndef STORE_MERGE_H
#define STORE_MERGE_H

#include "agg_error.h"
#include "recipe_ref.h"

typedef struct agg_store agg_store;

// How long questions get single days, and then weeks. Later they get months.
typedef struct agg_retention {
    uint32_t days, weeks;
} agg_retention;
#define AGG_RETENTION_DEFAULT ((agg_retention){90, 13})

// Merges one group of closed blocks for good, if one is due: the blocks of one UTC day once the day
// is over, of one ISO week once its last day is `days` days past, of one month once its last day is
// `days` days and `weeks` weeks past. A block belongs to the group of its last day. Blocks whose
// distinct records are still kept (recipe->keep_days) merge with those of their day only.
//   n_merged: blocks that became one; 0 when no group was due
//   today: days since 1970-01-01; this day is not over
// Privacy: a merged block is a union of whole blocks, so what store.h says of any two answers holds
// before and after.
// Cost: reads the accumulators of one group and writes their sum.
agg_err agg_store_merge_blocks(agg_store *store, uint64_t *n_merged, agg_error *error,
                               int64_t collection, const shoal_recipe *recipe, int32_t today,
                               agg_retention retention) SHOAL_MUST_CHECK;

#endif
