// SPDX-License-Identifier: Apache-2.0
// The heavy fragments of the Sequence Fragment Puzzle (apple-2017 Algorithm 10, lines 3-10). All
// 2^24 fragments of a position are scored at once (whole_domain.h), and those that stand out from
// the noise are kept. Private to discover/.
//
// A fragment's count covers the reports of its position only, about n / positions. Its score is
// agg_count's: at most standard normal for a fragment that no string has. Fragments that no string
// of the recipe can hold (sfp_text.h) are removed before any choice.
#ifndef SFP_FRAGMENTS_H
#define SFP_FRAGMENTS_H

#include <stddef.h>
#include <stdint.h>

#include "accumulator.h"
#include "agg_error.h"
#include "recipe.h"

#define AGG_SFP_POSITIONS_MAX 16u
#define AGG_SFP_HASHES 256u // values of the hash byte that all fragments of a string share

typedef struct agg_sfp_fragment {
    uint16_t pair; // first byte << 8 | second
    float score;   // standard errors above the level of a fragment that nobody sent
} agg_sfp_fragment;

typedef struct agg_sfp_heavy {
    uint32_t n_positions;
    uint64_t n[AGG_SFP_POSITIONS_MAX];        // reports of each position
    double null_error[AGG_SFP_POSITIONS_MAX]; // standard error of a fragment that nobody sent, in
                                              // reports of all positions
    double least[AGG_SFP_POSITIONS_MAX];      // the score from which fragments were kept
    size_t left_out[AGG_SFP_POSITIONS_MAX]; // fragments above the wanted score for which there was
                                            // no room
    agg_sfp_fragment
        *fragments[AGG_SFP_POSITIONS_MAX]; // by hash byte, then falling score, then pair
    uint32_t start[AGG_SFP_POSITIONS_MAX]
                  [AGG_SFP_HASHES + 1]; // where the fragments of each hash byte begin
} agg_sfp_heavy;

typedef struct agg_sfp_keep {
    double score; // least score
    double count; // least count as well, in reports of all positions; 0: none
    size_t most;  // the most fragments of one position; the strongest are kept
} agg_sfp_keep;

// Finds the heavy fragments. Release them afterwards, also after an error. The result does not
// depend on the number of threads.
// Cost: for each position k_fragment m_fragment additions, a transform of 2^24 numbers and a few
// passes over them.
// Memory: 128 MiB a thread, at most 1 GiB, and 8 bytes a fragment kept.
agg_err agg_sfp_heavy_find(agg_sfp_heavy *heavy, agg_error *error, const shoal_recipe *recipe,
                           const agg_accumulator *acc, const agg_sfp_keep *keep,
                           unsigned n_threads) SHOAL_MUST_CHECK;
void agg_sfp_heavy_release(agg_sfp_heavy *heavy);

#endif
