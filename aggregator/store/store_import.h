// SPDX-License-Identifier: Apache-2.0
// Imports what other machines folded by manifests (sketch/shard_claims.h) as a closed block; see
// store.h, which includes this header.
#ifndef STORE_IMPORT_H
#define STORE_IMPORT_H

#include "accumulator.h"
#include "recipe_ref.h"

typedef struct agg_store agg_store;

// Enters an accumulator as one closed block of a day, in one transaction with the names of its
// manifests. A manifest is imported once, for ever. A collection is fed by imports or by batches
// that are put, never by both: nothing else shows that a batch does not count in both.
//   number: of the block
//   day: on which the block is released, days since 1970-01-01; later than that of every closed
//   block, so that no released day changes, and not later than `today`
// Returns: AGG_ERR_COHORT for fewer records than recipe->block_minimum; AGG_ERR_INCOMPLETE where
// shards are missing; SHOAL_ERR_DUPLICATE, naming it, for a manifest that was imported before, for
// one that does not exclude an imported one's batches, and for a collection that batches were put
// into; SHOAL_ERR_RANGE for the day; SHOAL_ERR_ARGUMENT for an accumulator without manifests.
// Nothing is entered then.
// Privacy: a block holds the minimum at least and never changes, as store.h says of all blocks.
agg_err agg_store_import(agg_store *store, int64_t *number, agg_error *error, int64_t collection,
                         const shoal_recipe *recipe, agg_accumulator *acc, int32_t day,
                         int32_t today) SHOAL_MUST_CHECK;

#endif
