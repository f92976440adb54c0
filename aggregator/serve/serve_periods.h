// SPDX-License-Identifier: Apache-2.0
// The page of one collection over time: its closed blocks by the days in which they closed, the
// largest values over them, and the first day against the last (static_report.h). Every period is a
// whole of closed blocks that can be asked for by itself, so the page shows nothing new.
#ifndef SERVE_PERIODS_H
#define SERVE_PERIODS_H

#include "serve_job.h"

#define SERVE_PERIODS_MAX 60u // the newest ones; older blocks are left out, and the page says so
#define SERVE_PERIODS_LEAST ((size_t)256 << 10) // bytes that are always kept of pages

typedef struct serve_periods_shelf serve_periods_shelf;

// Makes the place where what pages are made of is kept, those of rounds too. Closed blocks never
// change, so it stands for every question that gets the same blocks. Only the results thread may
// touch it.
//   sets: outlives the shelf
// Returns: NULL where memory is short.
serve_periods_shelf *serve_periods_shelf_make(agg_error *error, serve_sets *sets);
void serve_periods_shelf_release(serve_periods_shelf *shelf); // may be NULL

// Forgets what belongs to other sets than this one; all for NULL.
void serve_periods_shelf_settle(serve_periods_shelf *shelf, const serve_set *set);

// Forgets pages, those that were used least recently first, until they hold so many bytes at most.
// Returns: the bytes that they hold.
size_t serve_periods_shelf_shrink(serve_periods_shelf *shelf, size_t bytes);

// Makes what one page is made of anew, if somebody asked for it since it was made and a block of
// its collection has closed since. Figures of periods that are as they were are taken over.
// Returns: whether there was one, which takes its time. The caller shrinks the shelf then.
bool serve_periods_shelf_refresh(serve_periods_shelf *shelf, agg_store *store);

// Answers a job that shows periods, or rounds (serve_rounds.h). The page of a span has the blocks
// of the span.
// Cost: reads the accumulator of each period up to three times, unless what the page is made of is
// kept; about once if it is kept of the blocks before. The caller shrinks the shelf afterwards.
void serve_periods_answer(serve_job *job, agg_store *store, serve_periods_shelf *shelf,
                          unsigned n_threads);

#endif
