// SPDX-License-Identifier: Apache-2.0
// Loading the accumulators of blocks. Only this room includes this header; agg_store_load of
// store_close.h is for everybody else.
#ifndef STORE_LOAD_H
#define STORE_LOAD_H

#include "store_files.h"

// Sums the blocks of a list. Call with fold_mutex or files_mutex held, so that none is replaced
// meanwhile. Release `acc` on OK.
agg_err agg_store_load_blocks(agg_store *store, agg_accumulator *acc, agg_error *error,
                              int64_t collection, const shoal_recipe *recipe, const agg_block *list,
                              size_t n) SHOAL_MUST_CHECK;

#endif
