// SPDX-License-Identifier: Apache-2.0
// What follows a round of a trie (gboard-2024 Algorithm 2 and its multiple passes): the next
// round's starts, step and share of the devices, or the next pass, or the end. Pure.
//
// Cells that do not end become starts; those that end are words. A pass is over where no start is
// left, the starts are as deep as the recipe goes, or the plan (trie_plan.h) gives the rest of the
// devices to the next pass. That one begins with the empty start, and devices no longer report what
// is known: so while passes are to come each round's words join the known ones. Of the last pass
// they stay unpublished. Devices answer one round of an analysis, ever. send.sample is the share of
// those that are left, each device deciding once: a round that states s of n answering devices
// leaves n (1 - s) / s. A first round that asks everybody says nothing of how many there are: the
// next ones are taken to have as many. What is published is held to the release threshold, as a row
// of a result.
#ifndef NEXT_TRIE_H
#define NEXT_TRIE_H

#include "trie_layer.h"
#include "trie_plan.h"

enum agg_trie_end {
    AGG_TRIE_GOES_ON,   // there is a next round
    AGG_TRIE_NO_DEVICE, // this round asked all that were left
    AGG_TRIE_COMPLETE,  // no start is left and no pass
    AGG_TRIE_NO_WORD    // another pass, but this one has found nothing that it could leave out
};

// What may be asked for; 0 where it is not.
typedef struct agg_next_trie_wish {
    uint32_t step;
    double sample;   // in (0, 1]
    size_t n_starts; // at most; the recipe's max_prefixes is taken into account already
} agg_next_trie_wish;

typedef struct agg_next_trie {
    enum agg_trie_end end;
    uint32_t pass, depth, step;
    double sample;    // rounded down to millionths, one at least
    double devices;   // expected to answer
    size_t n_dropped; // starts that no record has room for, the weakest
    agg_text *starts; // by their bytes, one empty one where a pass begins; written for GOES_ON
    size_t n_starts;
    agg_text *known; // the recipe's and new ones, by their bytes
    size_t n_known, n_new;
    agg_trie_plan plan; // of the pass, from the next round on
    char *pool;         // the texts' bytes
} agg_next_trie;

// Finds it. Release on OK only.
//   layer: of the round, all that was kept
agg_err agg_next_trie_find(agg_next_trie *next, agg_error *error, const agg_recipe *recipe,
                           const agg_trie_layer *layer,
                           const agg_next_trie_wish *wish) SHOAL_MUST_CHECK;
void agg_next_trie_release(agg_next_trie *next);

// Returns: the bytes that finding takes of a layer of so many cells.
uint64_t agg_next_trie_memory(const shoal_recipe *recipe, size_t n_cells);

#endif
