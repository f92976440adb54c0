// SPDX-License-Identifier: Apache-2.0
// The rounds of an analysis as parts of a server's page: what each asked, what came, and what is
// asked next. The rounds of a trie have their words together (static_discovery.h) and their story
// (static_story.h); rounds of tokens and of numbers have the steps between them (static_steps.h).
//
// Each round is a recipe of its own. The recipes alone say which follow each other: a round's
// `round.previous` is the hash of the query before it.
#ifndef STATIC_ANALYSIS_H
#define STATIC_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "accumulator.h"
#include "guarantee.h"
#include "recipe_json.h"
#include "result_page.h"

typedef struct agg_analysis_round {
    const agg_recipe *recipe;
    bool has_reports; // whether `load` gives at least the minimum cohort
} agg_analysis_round;

typedef struct agg_analysis {
    const agg_analysis_round *rounds; // each follows the one before it
    size_t n;                         // 1 or more
    // Loads the reports of round i, which the caller of it releases. It is called once for each
    // round that has reports.
    agg_err (*load)(void *context, agg_accumulator *acc, agg_error *error, size_t i);
    void *context;
    unsigned n_threads;
    agg_release release;
    size_t top;                   // rows of a table; 0: as many as it shows unasked
    const agg_table_order *order; // of the words found; may be NULL
} agg_analysis;

// What the page is made of: everything that takes time. It points into the recipes.
typedef struct agg_analysis_made agg_analysis_made;

// Returns: whether a recipe may be a round of an analysis: it asks fields, of everybody alike.
bool agg_analysis_has_rounds(const agg_recipe *recipe);

// Returns: whether the recipe finds strings in rounds, so that even a single round has a story.
bool agg_analysis_finds(const agg_recipe *recipe);

// Returns: whether `after` is the recipe of the round after `before`. A recipe without `round` is
// followed by round 1, whose fields must then go on where those of the recipe end.
bool agg_analysis_follows(const agg_recipe *after, const agg_recipe *before);

// Makes what the page needs, which agg_analysis_release frees. Rounds of a trie are told together
// as far as all before them have reports; rounds that do not begin with the first one have no words
// in common, and only their stories.
// Returns: as agg_discover_run and agg_marginal. *made is NULL then.
// Cost: reads each accumulator once. Those of a trie are in memory together.
agg_err agg_analysis_make(agg_analysis_made **made, agg_error *error,
                          const agg_analysis *analysis) SHOAL_MUST_CHECK;

// Writes the head of a page with the style that the parts need.
void agg_analysis_page_open(FILE *out, const agg_page *page);

// Writes the parts. It loads no accumulator.
//   analysis: that of agg_analysis_make; top and order are free
void agg_analysis_write(FILE *out, const agg_analysis *analysis, const agg_analysis_made *made);

// Returns: whether one of the tables is sorted by a column of this name.
bool agg_analysis_sorts_by(const char *column);

// Returns: the bytes of memory that it holds.
size_t agg_analysis_size(const agg_analysis_made *made);

// made may be NULL.
void agg_analysis_release(agg_analysis_made *made);

// Returns: the bytes that making takes for a round of a recipe beside what `load` takes.
uint64_t agg_analysis_memory(const agg_recipe *recipe, uint64_t accumulator, unsigned n_threads);

#endif
