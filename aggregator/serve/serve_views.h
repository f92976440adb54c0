// SPDX-License-Identifier: Apache-2.0
// Makes views in the background (serve_view.h), one at a time on one core, so that no other
// question waits for them. Views that were made are kept: closed blocks never change, so a view
// stands for every question that gets its blocks. Who asks for one that is not made yet gets a page
// that says so.
#ifndef SERVE_VIEWS_H
#define SERVE_VIEWS_H

#include "serve_job.h"

#define SERVE_VIEWS_MOST ((uint64_t)512 << 20) // bytes that making one may take without --memory
#define SERVE_VIEWS_KEPT ((size_t)8 << 20)     // bytes of views that are kept
#define SERVE_VIEWS_ANSWER ((size_t)2 << 20)   // bytes of a long page

typedef struct serve_views serve_views;

// Starts the thread. Only the results thread may call the other functions.
agg_err serve_views_start(serve_views **views, agg_error *error, agg_store *store,
                          serve_sets *sets) SHOAL_MUST_CHECK;

// Answers a job that asks for a view: with the view, with why there is none, or with that it is
// being made.
//   may_wait: for a second at most, where nobody asked for the view before
void serve_views_answer(serve_job *job, serve_views *views, bool may_wait);

// Forgets views of other sets than this one, but for one that is being made.
void serve_views_settle(serve_views *views, const serve_set *set);

// Ends the thread, which may take as long as a step of a view, and frees everything. views may be
// NULL.
void serve_views_stop(serve_views *views);

#endif
