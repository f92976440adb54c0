// SPDX-License-Identifier: Apache-2.0
// The page of the rounds of an analysis: where each round stands, what it asked, what came, and
// what is asked next (static_analysis.h), and for the rounds of a trie their words together. It is
// made of all closed blocks of each round, each of which its reader may ask for.
#ifndef SERVE_ROUNDS_H
#define SERVE_ROUNDS_H

#include "serve_job.h"

#define SERVE_ROUNDS_ROWS_MAX 1000u         // words of a page
#define SERVE_ROUNDS_PAGE ((size_t)4 << 20) // bytes of the longest page
#define SERVE_ROUNDS_KEPT ((size_t)4 << 20) // bytes that are kept of pages, where there are rounds

typedef struct serve_rounds_shelf serve_rounds_shelf;

// Makes the place where what pages are made of is kept. Closed blocks never change, so it stands
// until a block closes. Only the results thread may touch it.
//   sets: outlives the shelf
// Returns: NULL where memory is short.
serve_rounds_shelf *serve_rounds_shelf_make(agg_error *error, serve_sets *sets);
void serve_rounds_shelf_release(serve_rounds_shelf *shelf); // may be NULL

// Forgets what belongs to other sets than this one; all for NULL.
void serve_rounds_shelf_settle(serve_rounds_shelf *shelf, const serve_set *set);

// Forgets pages, those that were used least recently first, until they hold so many bytes at most.
// Returns: the bytes that they hold.
size_t serve_rounds_shelf_shrink(serve_rounds_shelf *shelf, size_t bytes);

// Answers a job that shows rounds, also where none has reports yet.
// Cost: reads the accumulator of each round once, unless what the page is made of is kept. The
// caller shrinks the shelf afterwards.
void serve_rounds_answer(serve_job *job, agg_store *store, serve_rounds_shelf *shelf,
                         unsigned n_threads);

// Returns: what the link to the page is called on the page of a job's collection; NULL for none.
const char *serve_rounds_link(const serve_job *job);

#endif
