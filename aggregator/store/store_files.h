// SPDX-License-Identifier: Apache-2.0
// The accumulators of folded batches: one file a block in `accumulators/`, which the block's row
// names. Only this room includes this header.
#ifndef STORE_FILES_H
#define STORE_FILES_H

#include "accumulator.h"
#include "store_blocks.h"

// Makes `accumulators/` unless it exists, removes files that the database does not name (a crash
// leaves them), checks that the others can be read, and gives them mode 0600. Used at open.
agg_err agg_store_files_open(agg_store *store, agg_error *error) SHOAL_MUST_CHECK;

// Loads one accumulator and checks that it belongs to the recipe. Release `acc` on OK.
agg_err agg_store_file_load(agg_store *store, agg_accumulator *acc, agg_error *error,
                            const shoal_recipe *recipe, const char *name) SHOAL_MUST_CHECK;

// Saves one accumulator. The file and its name are durable on return.
agg_err agg_store_file_save(agg_store *store, const agg_accumulator *acc, agg_error *error,
                            const char *name) SHOAL_MUST_CHECK;

// Finds whether an accumulator's file keeps distinct records.
agg_err agg_store_file_peek(agg_store *store, bool *has_records, agg_error *error,
                            const char *name) SHOAL_MUST_CHECK;

// Removes a file that the database does not name any more. When that fails the file stays until the
// next open.
void agg_store_file_remove(agg_store *store, const char *name);

// Finds how many bytes a collection's files have.
agg_err agg_store_files_size(agg_store *store, uint64_t *bytes, agg_error *error,
                             int64_t collection) SHOAL_MUST_CHECK;

#endif
