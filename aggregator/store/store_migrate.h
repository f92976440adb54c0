// SPDX-License-Identifier: Apache-2.0
// Blocks out of what version 2 kept by period; see agg_store_collection. Only this room includes
// this header.
#ifndef STORE_MIGRATE_H
#define STORE_MIGRATE_H

#include "recipe_ref.h"
#include "store_statements.h"

// Makes blocks of a collection's periods, if it has any. A process that is killed meanwhile leaves
// the periods or the blocks, whole; files that nobody names are removed at the next open.
//   today: days since 1970-01-01; a period that ends before this day is closed
// Cost: reads and writes the accumulators of periods that are grouped; the file of a period that is
// a block of its own stays as it is.
agg_err agg_store_migrate(agg_store *store, agg_error *error, int64_t collection,
                          const shoal_recipe *recipe, int32_t today) SHOAL_MUST_CHECK;

#endif
