// SPDX-License-Identifier: Apache-2.0
// Decides which cells of one round of a trie stand out of the noise (gboard-2024 Algorithm 2, lines
// 20 to 24). Pure.
//
// A cell is a start with a run of listed characters behind it. Where the word ends there, before
// the step does, the cell is a word; else it is a start of the next round. Algorithm 2 keeps the
// best max_prefixes cells whatever the noise. Here a cell is kept only above a false-discovery
// threshold (AGG_BH of multiple.h), one among the starts at the rate that is asked for, and one
// among the words, which are what is shown, at half of it: the rate is an expectation, and the
// share of false words of a run is to be below it, not only on average. max_prefixes is a cap on
// both together, by score. Neither tested nor kept: what begins with no start, what goes on with a
// character that is not listed (no device sends either), and the words that are known to the
// recipe. Words that are known to the reader alone are sent, but are tested with all others apart
// from those, so that what stands out anyway does not lower the bar for what is new.
#ifndef TRIE_LAYER_H
#define TRIE_LAYER_H

#include <stddef.h>
#include <stdint.h>

#include "accumulator.h"
#include "agg_error.h"
#include "recipe_json.h"

#define AGG_TRIE_WORD_FDR 0.5                        // the words' share of the rate
#define AGG_TRIE_TEXT_MAX (2 * SHOAL_TOKEN_TEXT_MAX) // bytes of a cell's text, without a NUL

typedef struct agg_trie_options {
    double fdr;            // in (0, 1); of the starts, twice that of the words
    double threshold;      // T: what is kept has at least this count besides; 0: none
    size_t max_prefixes;   // 0: the recipe's
    unsigned n_threads;    // 0 means 1
    const agg_list *known; // to the reader; may be NULL
} agg_trie_options;

typedef struct agg_trie_cell {
    uint32_t bucket;
    int is_word;
    double score, count, stderr_; // as in agg_count: reports of this round
} agg_trie_cell;

typedef struct agg_trie_layer {
    uint64_t n;           // reports
    size_t n_asked[2];    // starts, words that were tested, without those that are known
    size_t n_frequent;    // cells above their threshold
    size_t n_withheld;    // of them below T, never kept
    size_t n_cut;         // of the rest: beyond the cap
    size_t n_kept[2];     // starts, words
    size_t n_cells;       // both together
    agg_trie_cell *cells; // by falling score, then bucket
    double least[2];      // least score that is above the threshold, of starts and of new words;
                          // HUGE_VAL where none is
    double support_kept;  // reports that hold a cell, at the weakest kept; 0 where none is
} agg_trie_layer;

// Reads a round.
//   acc: of the recipe, which is of mechanism trie. The minimum cohort is the caller's to check
// Returns: RECIPE_HASH; MEMORY. Release on OK only. Cost: one pass over the cells; 8 bytes a cell.
// Privacy: post-processing of private records.
agg_err agg_trie_layer_read(agg_trie_layer *layer, agg_error *error, const agg_recipe *recipe,
                            const agg_accumulator *acc,
                            const agg_trie_options *options) SHOAL_MUST_CHECK;
void agg_trie_layer_release(agg_trie_layer *layer);

// Returns: the most bytes that reading a round takes beside its accumulator, whatever stands out.
//   max_prefixes: as in agg_trie_options
uint64_t agg_trie_layer_memory(const shoal_recipe *recipe, size_t max_prefixes, unsigned n_threads);

// The word or start that a bucket stands for.
//   is_word: written: whether it ends there; may be NULL
// Returns: bytes written; 0 for a bucket that stands for none (begins with no start, a character
// that is not listed).
size_t agg_trie_text(char out[AGG_TRIE_TEXT_MAX], int *is_word, const agg_recipe *recipe,
                     uint32_t bucket);

#endif
