// SPDX-License-Identifier: Apache-2.0
// The rounds of a trie as a story, in a static report: what each round asked, what came, and what
// was asked next; and a picture of the starts as they grew into words.
#ifndef STATIC_STORY_H
#define STATIC_STORY_H

#include <stddef.h>
#include <stdio.h>

#include "discover.h"
#include "static_report.h"
#include "trie_layer.h"

#define AGG_STORY_NAMED 5u // of each round the strongest starts, and as many words
#define AGG_STORY_LEAVES 14u
#define AGG_STORY_OPEN 4u     // of the leaves, starts that were left open
#define AGG_STORY_COLUMNS 16u // rounds that the picture has; later ones are left out

// A start or word that stood out in a round.
typedef struct agg_story_piece {
    char text[AGG_TRIE_TEXT_MAX];
    size_t len;
    double count, stderr_; // reports of the round
} agg_story_piece;

typedef struct agg_story_round {
    const agg_recipe *recipe;
    uint64_t n;                                // reports
    size_t n_asked[2], n_kept[2];              // starts, words; kept ones that may be released
    size_t n_withheld;                         // starts and words below the release threshold
    size_t n_named[2];                         // of `named`
    agg_story_piece named[2][AGG_STORY_NAMED]; // starts, words; the strongest first
} agg_story_round;

// A word, or a start that was left open, with its way through the rounds of the first pass.
typedef struct agg_story_leaf {
    char text[AGG_TRIE_TEXT_MAX];
    size_t len;
    bool is_open;
    // By column: reports of what the leaf has in that round, or below 0 where that is not known.
    double counts[AGG_STORY_COLUMNS];
} agg_story_leaf;

typedef struct agg_static_story {
    agg_story_round *rounds; // n
    size_t n, n_columns;     // rounds; the first of them, which the picture has
    agg_story_leaf *leaves;  // n_leaves, sorted by their bytes
    size_t n_leaves;
} agg_static_story;

// Reads what each round kept, as the discovery of all rounds does.
//   story: to be released on OK
//   found: of these rounds
// Returns: as agg_trie_layer_read.
agg_err agg_static_story_make(agg_static_story *story, agg_error *error, const agg_static_report *r,
                              const agg_discover_round *rounds, size_t n,
                              const agg_discovery *found) SHOAL_MUST_CHECK;

// Writes the section.
void agg_static_story_write(FILE *out, const agg_static_report *r, const agg_static_story *story);

// Writes the section where no round has reports yet: what the first one asks.
void agg_story_waiting_write(FILE *out, const agg_recipe *first);

// Returns: the bytes of memory that it holds besides itself.
size_t agg_static_story_size(const agg_static_story *story);

void agg_static_story_release(agg_static_story *story);

// Writes the picture; nothing without leaves. Private to static_story.c.
void agg_story_tree_write(FILE *out, const agg_static_report *r, const agg_static_story *story);

#endif
