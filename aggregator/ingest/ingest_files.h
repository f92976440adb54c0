// SPDX-License-Identifier: Apache-2.0
// Folds files of batches and NDJSON reports into an accumulator file, on several threads and within
// a limit of memory. The accumulator file changes only when all input was good.
#ifndef INGEST_FILES_H
#define INGEST_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "agg_error.h"

typedef struct agg_ingest_options {
    const char *recipe;       // a file
    const char *output;       // the accumulator; "-": standard output
    bool is_appending;        // adds to an accumulator that exists; else that is refused
    double max_rejected;      // share of a file's NDJSON lines that may be bad, 0 to 1
    const char *const *files; // n_files of them; "-": standard input
    int n_files;
    unsigned n_threads;
    uint64_t memory_limit; // bytes, 0: no limit
} agg_ingest_options;

// Ingests. A batch that comes more than once is counted once.
// Returns: AGG_ERR_REJECTED for a file with too many bad lines, AGG_ERR_MEMORY where the limit is
// too low, SHOAL_ERR_DUPLICATE for an output that exists; what readers and accumulators refuse.
agg_err agg_ingest_files(agg_error *error, const agg_ingest_options *options) SHOAL_MUST_CHECK;

#endif
