// SPDX-License-Identifier: Apache-2.0
// The heavy fragments of the Sequence Fragment Puzzle (apple-2017 Algorithm 10, lines 3-10): every
// one of the 2^24 fragments of a position is scored at once (whole_domain.h), and those stay that
// stand out of the noise. Private to discover/.
//
// A fragment's count is of the reports of its position only, about n / positions. Its score is
// agg_count's: at most standard normal for a fragment that no string has. What no string of the
// recipe can hold (sfp_text.h) is left out before anything is chosen.
#ifndef SFP_FRAGMENTS_H
#define SFP_FRAGMENTS_H

#include <stddef.h>
#include <stdint.h>

#include "accumulator.h"
#include "agg_error.h"
#include "recipe.h"

#define AGG_SFP_POSITIONS_MAX 16u
#define AGG_SFP_HASHES 256u // values of the byte that all fragments of a string share

typedef struct agg_sfp_fragment {
    uint16_t pair; // first byte << 8 | second
    float score;   // standard errors above a fragment that nobody sent
} agg_sfp_fragment;

typedef struct agg_sfp_heavy {
    uint32_t n_positions;
    uint64_t n[AGG_SFP_POSITIONS_MAX];        // reports of each position
    double null_error[AGG_SFP_POSITIONS_MAX]; // standard error of a fragment that nobody sent, in
                                              // reports of all positions
    double least[AGG_SFP_POSITIONS_MAX];      // the score from which fragments were kept
    size_t
        left_out[AGG_SFP_POSITIONS_MAX]; // fragments above the score asked for that found no room
    agg_sfp_fragment
        *fragments[AGG_SFP_POSITIONS_MAX]; // by hash byte, then falling score, then pair
    uint32_t start[AGG_SFP_POSITIONS_MAX]
                  [AGG_SFP_HASHES + 1]; // where those of each hash byte begin
} agg_sfp_heavy;

typedef struct agg_sfp_keep {
    double score; // least score
    double count; // least count besides, in reports of all positions; 0: none
    size_t most;  // fragments of one position; where there are more, the strongest stay
} agg_sfp_keep;

// Finds them. Release, also after an error.
// Cost: for each position k_fragment m_fragment additions, a transform of 2^24 numbers and a few
// passes over them. Memory: 128 MiB a thread, at most 1 GiB, and 8 bytes a fragment kept. The
// result does not depend on the number of threads.
agg_err agg_sfp_heavy_find(agg_sfp_heavy *heavy, agg_error *error, const shoal_recipe *recipe,
                           const agg_accumulator *acc, const agg_sfp_keep *keep,
                           unsigned n_threads) SHOAL_MUST_CHECK;
void agg_sfp_heavy_release(agg_sfp_heavy *heavy);

#endif
