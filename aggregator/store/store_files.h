// SPDX-License-Identifier: Apache-2.0
// The accumulators of folded batches: one file a collection and period in `accumulators/`, and the
// database's row that names its generation. Only this room includes this header.
#ifndef STORE_FILES_H
#define STORE_FILES_H

#include "accumulator.h"
#include "store_statements.h"

// Makes `accumulators/` unless it exists, removes files that the database does not name (a crash
// leaves them), and checks that the others can be read. Used at open.
agg_err agg_store_files_open(agg_store *store, agg_error *error) SHOAL_MUST_CHECK;

// Loads one accumulator and checks that it belongs to the recipe. Release `acc` on OK.
agg_err agg_store_file_load(agg_store *store, agg_accumulator *acc, agg_error *error,
                            int64_t collection, const shoal_recipe *recipe, agg_period period,
                            int64_t generation) SHOAL_MUST_CHECK;

// Saves one accumulator. The file and its name are durable on return.
agg_err agg_store_file_save(agg_store *store, const agg_accumulator *acc, agg_error *error,
                            int64_t collection, agg_period period,
                            int64_t generation) SHOAL_MUST_CHECK;

// Finds whether an accumulator's file keeps distinct records.
agg_err agg_store_file_peek(agg_store *store, bool *has_records, agg_error *error,
                            int64_t collection, agg_period period,
                            int64_t generation) SHOAL_MUST_CHECK;

// Removes a file that the database does not name any more. When that fails the file stays until the
// next open.
void agg_store_file_remove(agg_store *store, int64_t collection, agg_period period,
                           int64_t generation);

typedef struct agg_stored {
    agg_period period;
    int64_t generation;
} agg_stored;

// Lists a collection's accumulators by period.
//   list: free it, also after an error
agg_err agg_store_files_list(agg_store *store, agg_stored **list, size_t *n, agg_error *error,
                             int64_t collection) SHOAL_MUST_CHECK;

// Finds how many bytes a collection's files have.
agg_err agg_store_files_size(agg_store *store, uint64_t *bytes, agg_error *error,
                             int64_t collection) SHOAL_MUST_CHECK;

// Sums a collection's accumulators within a span; see agg_store_load.
agg_err agg_store_files_load(agg_store *store, agg_accumulator *acc, agg_error *error,
                             int64_t collection, const shoal_recipe *recipe,
                             agg_span span) SHOAL_MUST_CHECK;

// Refuses a span that cuts through days that are kept together.
// Returns: SHOAL_ERR_RANGE.
agg_err agg_store_fail_across(agg_error *error, agg_span kept);

#endif
