// SPDX-License-Identifier: Apache-2.0
// Results, made on a thread of their own: an estimate may read hundreds of megabytes and take
// seconds, and batches must not wait for it. Estimates are kept until a fold changes what they are
// of.
#ifndef SERVE_RESULT_H
#define SERVE_RESULT_H

#include <stdbool.h>

#include "collection.h"
#include "http_answer.h"

#define SERVE_PAGE_ROWS_MAX 10000u // rows of a page, all its sections together; results have all

typedef struct serve_results serve_results;

// One question and its answer. The caller owns it until `done` is called, from the results thread.
typedef struct serve_job {
    const serve_collection *collection; // NULL: the page of all
    const serve_dictionary *dictionary; // NULL where collection is
    agg_span span;
    char period[32]; // the span for people; "" for all
    size_t top;      // rows; 0: all
    bool is_page;    // HTML instead of JSON
    agg_http_answer answer;
    void (*done)(void *context);
    void *context;
    struct serve_job *next; // private
} serve_job;

// Starts the thread.
//   kept_bytes: of estimates that are kept for the next question, at most; one is kept always
agg_err serve_results_start(serve_results **results, agg_error *error, agg_store *store,
                            const serve_collections *collections,
                            size_t kept_bytes) SHOAL_MUST_CHECK;

// Hands a job over. Returns: 1, or 0 when too many are waiting (then `done` is not called).
bool serve_results_ask(serve_results *results, serve_job *job);

// Answers every waiting job with 503 and ends the thread; later jobs are not taken. results may be
// NULL.
void serve_results_stop(serve_results *results);

// Call once stopped, and when nothing can ask any more. results may be NULL.
void serve_results_release(serve_results *results);

#endif
