// SPDX-License-Identifier: Apache-2.0
// The step after a round of a trie: the next round's starts, step and share of the devices, or the
// next pass, or the end (gboard-2024 Algorithm 2 and its multiple passes). Pure.
//
// Detected cells that do not end become starts; detected cells that end are words. A pass is over
// if no start is left, if the starts are as deep as the recipe goes, or if the plan (trie_plan.h)
// reserves the remaining devices for the next pass. The next pass begins with the empty start, and
// devices no longer report known words. So while passes follow, each round's words join the known
// ones; the words of the last pass are not published in a recipe.
//
// A device answers one round of an analysis, ever. send.sample is the share of the devices that are
// left, and each device decides once: a round that states share s and has n reports leaves
// n (1 - s) / s devices. If the first round asked everybody, the number of devices is unknown, and
// each later round is assumed to have as many as the first. The release threshold applies to
// everything that is published, as to a row of a result.
#ifndef NEXT_TRIE_H
#define NEXT_TRIE_H

#include "trie_layer.h"
#include "trie_plan.h"

enum agg_trie_end {
    AGG_TRIE_GOES_ON,   // a round follows
    AGG_TRIE_NO_DEVICE, // this round asked all devices that were left
    AGG_TRIE_COMPLETE,  // neither a start nor a pass is left
    AGG_TRIE_NO_WORD    // a pass is left, but it would leave out no further word
};

// The caller's wishes; 0 leaves a member to the plan.
typedef struct agg_next_trie_wish {
    uint32_t step;
    double sample;   // in (0, 1]
    size_t n_starts; // the most starts; the recipe's max_prefixes applies besides
} agg_next_trie_wish;

typedef struct agg_next_trie {
    enum agg_trie_end end;
    uint32_t pass, depth, step;
    double sample;    // rounded down to millionths, at least one
    double devices;   // devices expected to answer
    size_t n_dropped; // the weakest starts, which no record has room for
    agg_text *starts; // sorted by bytes; a single empty one at the beginning of a pass
    size_t n_starts;
    agg_text *known; // known words, the recipe's and new ones, sorted by bytes
    size_t n_known, n_new;
    agg_trie_plan plan; // the rest of the pass, from the next round on
    char *pool;         // the texts' bytes
} agg_next_trie;

// Finds the next step. Release `next` on OK only.
//   layer: everything that this round kept
agg_err agg_next_trie_find(agg_next_trie *next, agg_error *error, const agg_recipe *recipe,
                           const agg_trie_layer *layer,
                           const agg_next_trie_wish *wish) SHOAL_MUST_CHECK;
void agg_next_trie_release(agg_next_trie *next);

// Returns: the most bytes that agg_next_trie_find takes for a layer of so many cells.
uint64_t agg_next_trie_memory(const shoal_recipe *recipe, size_t n_cells);

#endif
