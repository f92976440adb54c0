// SPDX-License-Identifier: Apache-2.0
// Decides which cells of one round of a trie stand out from the noise (gboard-2024 Algorithm 2,
// lines 20 to 24). Pure.
//
// A cell is a start followed by a run of listed characters. If the word ends there, before the step
// does, the cell is a word; else it is a start of the next round.
//
// Algorithm 2 keeps the best max_prefixes cells whatever the noise. Here a cell is kept only above
// a false-discovery threshold (AGG_BH of multiple.h). The starts have one threshold at the
// requested rate. The words, which are shown, have another at half of it: the rate is an
// expectation, and the share of false words in a single run should stay below it too. max_prefixes
// caps both together, by score.
//
// Three kinds of cells are neither tested nor kept. Two of them no device sends: cells that begin
// with no start, and cells that go on with an unlisted character. The third kind are the words
// known to the recipe. Words that only
// the reader knows are sent. They are tested among all words, and the new words are tested among
// themselves. Words that stand out anyway thus do not lower the bar for new ones.
#ifndef TRIE_LAYER_H
#define TRIE_LAYER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "accumulator.h"
#include "agg_error.h"
#include "recipe_json.h"

#define AGG_TRIE_WORD_FDR 0.5   // the words' share of the rate
#define AGG_TRIE_DEPTH_OPEN 15u // from here on a depth is a bound, below it a length that is wanted
#define AGG_TRIE_START_TIMES 4.0 // a next round's starts have this many times the rate
#define AGG_TRIE_START_FDR_MAX 0.5
#define AGG_TRIE_TEXT_MAX (2 * SHOAL_TOKEN_TEXT_MAX) // bytes of a cell's text, without a NUL

typedef struct agg_trie_options {
    double fdr;       // rate of the starts, in (0, 1); that of the words is AGG_TRIE_WORD_FDR of it
    double start_fdr; // rate of the starts where it is another; 0: fdr
    double threshold; // T: kept cells also have at least this count; 0: none
    size_t max_prefixes;   // 0: the recipe's
    unsigned n_threads;    // 0 means 1
    const agg_list *known; // words known to the reader; may be NULL
} agg_trie_options;

typedef struct agg_trie_cell {
    uint32_t bucket;
    bool is_word;
    double score, count, stderr_; // as in agg_count: reports of this round
} agg_trie_cell;

typedef struct agg_trie_layer {
    uint64_t n;           // reports
    size_t n_asked[2];    // starts, words that were tested; known words are not counted
    size_t n_frequent;    // cells above their threshold
    size_t n_withheld;    // cells above it but below T, never kept
    size_t n_cut;         // cells beyond the cap
    size_t n_kept[2];     // starts, words
    size_t n_cells;       // both together
    agg_trie_cell *cells; // by falling score, then bucket
    double least[2]; // least score above the threshold, of starts and of new words; HUGE_VAL if no
                     // score is
    double support_kept; // reports that hold a cell, at the weakest kept; 0 if none is kept
} agg_trie_layer;

// Reads a round. Release the layer on OK only.
//   acc: of the recipe, which is of mechanism trie. The caller checks the minimum cohort
// Returns: RECIPE_HASH; MEMORY.
// Cost: one pass over the cells; 8 bytes a cell.
// Privacy: post-processing of private records.
agg_err agg_trie_layer_read(agg_trie_layer *layer, agg_error *error, const agg_recipe *recipe,
                            const agg_accumulator *acc,
                            const agg_trie_options *options) SHOAL_MUST_CHECK;
void agg_trie_layer_release(agg_trie_layer *layer);

// Returns: the share of the round's reports that a word needs to be found in it as often as not,
// and that its start needs where another round follows: f n (p - q) = z sqrt(n q (1 - q)) + z^2/6
// as in trie_plan.h, with the bar z of the round, or of its first finding where nothing was found.
//   options: those of the layer
//   is_last: no round follows
double agg_trie_layer_found_from(const agg_trie_layer *layer, const shoal_recipe *recipe,
                                 const agg_trie_options *options, bool is_last);

// Returns: the rate at which starts go on into a next round: fdr, and more of a recipe whose depth
// is a length that is wanted. False ones cost its devices cells; what is found behind a start is
// tested there.
double agg_trie_start_rate(double fdr, uint32_t depth);

// Returns: the most bytes that reading a round takes beside its accumulator, whatever cells stand
// out.
//   max_prefixes: as in agg_trie_options
uint64_t agg_trie_layer_memory(const shoal_recipe *recipe, size_t max_prefixes, unsigned n_threads);

// Writes the word or start that a bucket stands for.
//   is_word: written: whether the text ends there; may be NULL
// Returns: bytes written; 0 for a bucket that stands for no text, because it begins with no start
// or has an unlisted character.
size_t agg_trie_text(char out[AGG_TRIE_TEXT_MAX], bool *is_word, const agg_recipe *recipe,
                     uint32_t bucket);

#endif
