// SPDX-License-Identifier: Apache-2.0
// Claims (claims.h) of an accumulator that leaves the store. The store itself needs none: it knows
// the ids of all batches.
#ifndef STORE_CLAIM_H
#define STORE_CLAIM_H

#include "store_close.h"

// Claims what agg_store_load has just loaded: an id for each block as it closed, also where
// retention has merged blocks since. So two accumulators that share a block are not merged, even if
// one of them has it as part of a coarser one. The ids are of this store and this collection only.
//   acc, released, span: of the call of agg_store_load
// Returns: SHOAL_ERR_OVERFLOW for more blocks than an accumulator lists.
agg_err agg_store_claim(agg_store *store, agg_accumulator *acc, agg_error *error,
                        int64_t collection, const agg_released *released,
                        agg_span span) SHOAL_MUST_CHECK;

#endif
