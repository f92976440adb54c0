// SPDX-License-Identifier: Apache-2.0
// The thread that folds waiting batches, closes blocks at ticks, merges old blocks and forgets
// records, collection by collection.
//
// A fold rewrites a whole accumulator, up to a gigabyte. A collection then rests ten times as long
// as its last fold took, and at least the configured interval, so that folds do not keep the disk
// busy.
#ifndef SERVE_FOLD_H
#define SERVE_FOLD_H

#include "serve_set.h"

typedef struct serve_folder serve_folder;

// Starts the thread. At each turn it folds the collections of the set in force.
//   config: the shortest time between two folds of a collection, and how long blocks stay days
agg_err serve_folder_start(serve_folder **folder, agg_error *error, agg_store *store,
                           serve_sets *sets, const serve_config *config) SHOAL_MUST_CHECK;

// Ends the thread after a last fold of every collection. folder may be NULL.
// Returns: SHOAL_OK when no batch waits any more.
agg_err serve_folder_stop(serve_folder *folder, agg_error *error);

#endif
