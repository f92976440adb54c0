// SPDX-License-Identifier: Apache-2.0
// The thread that folds waiting batches, collection by collection, and releases sums where batches
// do not wait.
//
// A fold rewrites the whole accumulator, up to a gigabyte. So that the disk is not kept busy by
// that, a collection rests ten times as long as its last fold took, and at least the configured
// interval.
#ifndef SERVE_FOLD_H
#define SERVE_FOLD_H

#include "collection.h"
#include "serve_memory.h"

typedef struct serve_folder serve_folder;

agg_err serve_folder_start(serve_folder **folder, agg_error *error, agg_store *store,
                           const serve_collections *collections, serve_plan *plan,
                           double interval_s) SHOAL_MUST_CHECK;

// Ends the thread after a last fold of everything. folder may be NULL.
// Returns: SHOAL_OK when nothing waits any more.
agg_err serve_folder_stop(serve_folder *folder, agg_error *error);

#endif
