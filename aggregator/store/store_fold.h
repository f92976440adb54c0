// SPDX-License-Identifier: Apache-2.0
// Folding the store's waiting batches into the open block, and forgetting distinct records; see
// store.h, which includes this header.
#ifndef STORE_FOLD_H
#define STORE_FOLD_H

#include "agg_error.h"
#include "recipe_ref.h"

typedef struct agg_store agg_store;

#define AGG_STORE_FOLD_BYTES ((size_t)16 << 20) // default of agg_store_set_fold_bytes

// Folds every waiting batch of a collection into its open block. Does nothing for recipes of
// aggregation "sum", none of whose batches wait.
//   n_batches: how many were folded, also after an error
// Cost: reads and writes one accumulator; puts go on meanwhile.
agg_err agg_store_fold(agg_store *store, uint64_t *n_batches, agg_error *error, int64_t collection,
                       const shoal_recipe *recipe, unsigned n_threads) SHOAL_MUST_CHECK;

// Sets how many bytes of records a fold groups by row at once, at most. Call before the first fold.
void agg_store_set_fold_bytes(agg_store *store, size_t bytes);

// Drops the distinct records that accumulators keep beside their sums (accumulator.h), of every
// block that closed recipe->keep_days days before `today` or earlier. A block that is still open
// ends with the recipe. The sums stay. Does nothing for recipes whose records are not kept.
//   n_blocks: how many blocks lost their records
//   today: days since 1970-01-01; this day is not over
// Cost: opens the accumulator of each such block; reads and writes those that keep records.
agg_err agg_store_forget(agg_store *store, uint64_t *n_blocks, agg_error *error, int64_t collection,
                         const shoal_recipe *recipe, int32_t today) SHOAL_MUST_CHECK;

#endif
