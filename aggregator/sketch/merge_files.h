// SPDX-License-Identifier: Apache-2.0
// Adds accumulator files of one recipe into one.
#ifndef MERGE_FILES_H
#define MERGE_FILES_H

#include <stdint.h>

#include "accumulator.h"

// Merges. Of files that each hold other rows, the rows are put together (merge_rows.h). The order
// of the files does not matter to a byte. Files that do not list what they count are named in a
// warning.
//   rows: to merge these rows only; {0, 0}: all
//   output: replaced when it exists, and locked from before the files are read; "-": standard
//   output memory_limit: bytes, 0: no limit
// Returns: AGG_ERR_USAGE for a file that is named twice, SHOAL_ERR_DUPLICATE for two that count the
// same batch, file of reports or shard, naming both: either would also lift a small cohort over its
// minimum. Nothing is written then.
agg_err agg_merge_files(agg_error *error, const char *output, const char *const *files, int n_files,
                        agg_rows rows, uint64_t memory_limit) SHOAL_MUST_CHECK;

#endif
