// SPDX-License-Identifier: Apache-2.0
// Estimates that stay for later questions, in no more than some bytes: the least recently used go
// first. Closed blocks never change, so an estimate stands for every question that gets its blocks,
// however it names them. Only the results thread may touch them.
#ifndef SERVE_KEPT_H
#define SERVE_KEPT_H

#include <stdbool.h>
#include <stddef.h>

#include "serve_estimate.h"
#include "serve_job.h"
#include "serve_periods.h"
#include "serve_set.h"

typedef struct serve_kept serve_kept;

// Makes the place where they are kept.
//   periods: pages over time, which share the bytes and give way to estimates
//   bytes: most bytes of both; one estimate is always kept
// store, sets and periods outlive it. Returns: NULL where memory is short.
serve_kept *serve_kept_make(agg_error *error, agg_store *store, serve_sets *sets,
                            serve_periods_shelf *periods, size_t bytes);
void serve_kept_release(serve_kept *kept); // may be NULL

// Finds the estimate of a question, or makes it.
//   collection, dictionary: of the job's set
// Returns: the estimate, or in its error the reason why there is none. It stays until the next call
// of any of these functions.
const serve_estimate *serve_kept_answer(serve_kept *kept, const serve_job *job,
                                        const serve_collection *collection,
                                        const serve_dictionary *dictionary, unsigned n_threads);

// Gives pages over time their place: estimates go, unless one page is larger than all that may be
// kept.
void serve_kept_make_room(serve_kept *kept);

// Forgets what belongs to other sets than this one.
void serve_kept_settle(serve_kept *kept, const serve_set *set);

// Makes one estimate, or page over time, anew that was asked for since it was made and of whose
// collection a block has closed since: whoever asks next need not wait for it.
// Returns: whether there was one, which takes its time.
bool serve_kept_refresh(serve_kept *kept);

#endif
