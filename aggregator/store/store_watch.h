// SPDX-License-Identifier: Apache-2.0
// A thread that looks for damage in a server's store, once at the start and then at intervals, so
// that somebody is told before an answer is wrong or fails.
//
// It reads files at no more than AGG_WATCH_BYTES_S, so that it never keeps the disk from puts and
// folds for long.
#ifndef STORE_WATCH_H
#define STORE_WATCH_H

#include "store_check.h"

#define AGG_WATCH_BYTES_S ((size_t)64 << 20) // bytes of files a second
#define AGG_WATCH_INTERVAL_S 86400.0         // default
#define AGG_WATCH_INTERVAL_S_MIN 0.05
#define AGG_WATCH_INTERVAL_S_MAX 2592000.0

typedef struct agg_watch agg_watch;

// Looks through a store once; see agg_store_check.
//   store: of the kind that the function was given with
typedef agg_err (*agg_watch_fn)(void *store, agg_store_found *found, agg_error *error,
                                agg_store_told told, const agg_pace *pace);

// Starts the thread.
//   store: outlives the watch
//   interval_s: seconds between two looks
//   told: receives what a look finds
agg_err agg_watch_start(agg_watch **watch, agg_error *error, agg_watch_fn look, void *store,
                        double interval_s, agg_store_told told) SHOAL_MUST_CHECK;

// Returns: whether the last look that ended found damage. Any thread may ask.
//   watch: NULL for a server that does not watch
bool agg_watch_is_damaged(const agg_watch *watch);

// Ends the thread, also within a look. watch may be NULL.
void agg_watch_stop(agg_watch *watch);

#endif
