// SPDX-License-Identifier: Apache-2.0
// Batches as they come in: their ids, which the store keeps for ever, and the bytes of batches that
// wait for a fold. Only this room includes this header.
#ifndef STORE_BATCH_H
#define STORE_BATCH_H

#include "store_statements.h"

// Looks a batch's id up. Call with db_mutex held.
agg_err agg_store_find_id(agg_store *store, bool *is_known, agg_error *error, int64_t collection,
                          const uint8_t id[16]) SHOAL_MUST_CHECK;

// Enters a batch's id. Call inside a transaction.
agg_err agg_store_add_id(agg_store *store, agg_error *error, int64_t collection,
                         const uint8_t id[16]) SHOAL_MUST_CHECK;

// Keeps a batch for the next fold, unless its id is known; see agg_store_put.
agg_err agg_store_put_waiting(agg_store *store, bool *is_known, agg_error *error,
                              int64_t collection, int32_t today, const uint8_t id[16],
                              const uint8_t *bytes, size_t len) SHOAL_MUST_CHECK;

#endif
