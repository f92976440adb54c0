// SPDX-License-Identifier: Apache-2.0
// Results, made on a thread of their own: an estimate may read hundreds of megabytes and take
// seconds, and batches must not wait for it. Estimates are kept, the least recently used go first:
// closed blocks never change, so an estimate stands for every question that gets its blocks.
#ifndef SERVE_RESULT_H
#define SERVE_RESULT_H

#include <stdbool.h>

#include "serve_job.h"
#include "serve_set.h"

#define SERVE_PAGE_ROWS_MAX                                                                        \
    10000u // rows of a page, over all its sections; a JSON result has all rows

typedef struct serve_results serve_results;

// Starts the thread. Estimates of a set that was replaced are forgotten within a second or two.
//   kept_bytes: most bytes of estimates, and of what pages over time are made of, that are kept for
//   later questions; one estimate is always kept
agg_err serve_results_start(serve_results **results, agg_error *error, agg_store *store,
                            serve_sets *sets, size_t kept_bytes) SHOAL_MUST_CHECK;

// Hands a job over.
// Returns: false when too many jobs wait; `done` is not called then.
bool serve_results_ask(serve_results *results, serve_job *job);

// Answers every waiting job with 503 and ends the thread. Later jobs are refused. results may be
// NULL.
void serve_results_stop(serve_results *results);

// Frees the results. Call after serve_results_stop, when no thread can hand over a job any more.
// results may be NULL.
void serve_results_release(serve_results *results);

#endif
