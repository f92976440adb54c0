// SPDX-License-Identifier: Apache-2.0
// Sums of recipes of aggregation "sum": putting batches into them; see store.h. Only this room
// includes this header.
#ifndef STORE_SUM_H
#define STORE_SUM_H

#include "accumulator.h"
#include "store_statements.h"

// Adds a batch to its period's sum, unless its id is known; see agg_store_put.
agg_err agg_store_put_sum(agg_store *store, bool *is_known, agg_error *error, int64_t collection,
                          const shoal_recipe *recipe, agg_period period, const uint8_t id[16],
                          const uint8_t *bytes, size_t len) SHOAL_MUST_CHECK;

// Reads a sum from column 0 of the current row, and checks that it belongs to the recipe. Call with
// db_mutex held. Release `acc` on OK.
agg_err agg_store_read_sum(const agg_store *store, agg_accumulator *acc, agg_error *error,
                           const shoal_recipe *recipe, sqlite3_stmt *row) SHOAL_MUST_CHECK;

#endif
