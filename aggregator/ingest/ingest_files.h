// SPDX-License-Identifier: Apache-2.0
// Folds files of batches and NDJSON reports into an accumulator file, on several threads and within
// a limit of memory. The accumulator file changes only when all input was good. It lists what it
// counts (claims.h): batches by their ids, a file of reports as a whole. It is locked from before
// it is read until it is replaced, so that two calls at once add up.
#ifndef INGEST_FILES_H
#define INGEST_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "agg_error.h"

typedef struct agg_ingest_options {
    const char *recipe; // a file
    const char *output; // the accumulator; "-": standard output
    bool is_appending;  // adds to an accumulator that exists; else that is refused
    const char
        *manifest; // a file, or NULL: only the batches of a shard are folded, and all of them
    uint32_t shard, n_shards; // of the manifest
    bool skips_held;     // leaves out what the accumulator counts already; else that is refused
    double max_rejected; // share of a file's NDJSON lines that may be bad, 0 to 1
    const char *const *files; // n_files of them; "-": standard input
    int n_files;
    unsigned n_threads;
    uint64_t memory_limit; // bytes, 0: no limit
} agg_ingest_options;

// Ingests. A batch that comes more than once in one call is counted once. Of a shard, an output
// that counts exactly this shard already is left as it is. Returns: SHOAL_ERR_DUPLICATE for a batch
// or a file of reports that the accumulator counts already, for two files of the same reports, and
// for an output that exists; AGG_ERR_REJECTED for a file with too many bad lines; what
// agg_shard_input_take and agg_shard_input_check_all refuse; AGG_ERR_MEMORY where the limit is too
// low; what readers and accumulators refuse.
agg_err agg_ingest_files(agg_error *error, const agg_ingest_options *options) SHOAL_MUST_CHECK;

#endif
