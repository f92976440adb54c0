// SPDX-License-Identifier: Apache-2.0
// The page of a run over epochs: which epochs were updates, what they measured, and what is asked
// now (static_run.h).
//
// All epochs of a run have one recipe id, so that a server has one of them in its configuration at
// a time. The earlier ones are in its store, whose collections are recipes by their hashes. Their
// recipes differ in `round` alone, which this one's file makes again from the first epoch on; the
// store tells which of two an epoch was, the one after an update or the other.
#ifndef SERVE_EPOCHS_H
#define SERVE_EPOCHS_H

#include "serve_job.h"

#define SERVE_EPOCHS_MAX 1000u                 // of a run that a page tells
#define SERVE_EPOCHS_ITEMS ((uint64_t)8 << 20) // bytes of the shares of its strings

typedef struct serve_epochs_kept serve_epochs_kept;

// Makes the place where the run that was told last is kept. Only the results thread may touch it.
// Returns: NULL where memory is short.
serve_epochs_kept *serve_epochs_kept_make(agg_error *error, serve_sets *sets);
void serve_epochs_kept_release(serve_epochs_kept *kept); // may be NULL

// Forgets what belongs to another set than this one; all for NULL.
void serve_epochs_kept_settle(serve_epochs_kept *kept, const serve_set *set);

// Forgets the run if it holds more bytes. Returns: the bytes that it holds.
size_t serve_epochs_kept_shrink(serve_epochs_kept *kept, size_t bytes);

// Returns: whether a recipe is an epoch of a run, so that its collection has such a page.
bool serve_epochs_is_told(const serve_collection *collection);

// Answers a job that shows the rounds of such a collection.
// Cost: reads the accumulator of each epoch once, unless the run is kept.
void serve_epochs_answer(serve_job *job, agg_store *store, serve_epochs_kept *kept);

#endif
