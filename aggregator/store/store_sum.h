// SPDX-License-Identifier: Apache-2.0
// Sums of recipes of aggregation "sum": putting batches into them; see store.h. Only this room
// includes this header.
#ifndef STORE_SUM_H
#define STORE_SUM_H

#include "accumulator.h"
#include "store_blocks.h"

// Adds a batch to the open block's sum, unless its id is known; see agg_store_put.
agg_err agg_store_put_sum(agg_store *store, bool *is_known, agg_error *error, int64_t collection,
                          const shoal_recipe *recipe, int32_t today, const uint8_t id[16],
                          const uint8_t *bytes, size_t len) SHOAL_MUST_CHECK;

// Reads a sum from a column of the current row, and checks that it belongs to the recipe. Call with
// db_mutex held. Release `acc` on OK.
agg_err agg_store_read_sum(const agg_store *store, agg_accumulator *acc, agg_error *error,
                           const shoal_recipe *recipe, sqlite3_stmt *row,
                           int column) SHOAL_MUST_CHECK;

// Reads the sum of a block. Call with db_mutex held. Release `acc` on OK.
agg_err agg_store_block_sum(agg_store *store, agg_accumulator *acc, agg_error *error,
                            int64_t collection, const shoal_recipe *recipe,
                            int64_t number) SHOAL_MUST_CHECK;

// Enters a block with its sum, or replaces the open one. Call inside a transaction.
agg_err agg_store_set_sum(agg_store *store, agg_error *error, int64_t collection,
                          const agg_block *block, bool is_closed,
                          const agg_accumulator *acc) SHOAL_MUST_CHECK;

// Overwrites sums that were replaced in the write-ahead log too. Call with db_mutex held.
void agg_store_drop_old_sums(agg_store *store);

#endif
