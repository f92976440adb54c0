// SPDX-License-Identifier: Apache-2.0
// Counts of what a store holds, of one collection or of all.
#ifndef STORE_STATISTICS_H
#define STORE_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"

typedef struct agg_store agg_store;

typedef struct agg_store_stats {
    uint64_t batches;         // ids known: every batch ever acknowledged
    uint64_t waiting_batches; // not folded yet
    uint64_t waiting_bytes;
    uint64_t waiting_records;
    uint64_t records;  // folded, in all blocks
    uint64_t blocks;   // closed
    uint64_t released; // records in closed blocks
} agg_store_stats;

// Counts a collection's batches, records and blocks.
// Privacy: batches, waiting and folded records are live counts: whoever sees two of them sees what
// came between. Only `blocks` and `released` are for readers.
agg_err agg_store_statistics(agg_store *store, agg_store_stats *stats, agg_error *error,
                             int64_t collection) SHOAL_MUST_CHECK;

// Counts the same of many collections with a question to the database for each figure instead of
// five for each collection: a thousand collections take milliseconds.
//   stats: of collections[i] at i; zeros where the store has nothing of it
//   collections: their numbers, in any order, each once
//   with_batches: whether `batches` is counted, which reads every id that the store knows; else 0
// Returns: AGG_ERR_MEMORY or AGG_ERR_IO.
// Privacy: as agg_store_statistics.
agg_err agg_store_statistics_of(agg_store *store, agg_store_stats *stats, agg_error *error,
                                const int64_t *collections, size_t n,
                                bool with_batches) SHOAL_MUST_CHECK;

#endif
