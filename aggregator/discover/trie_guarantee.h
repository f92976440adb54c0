// SPDX-License-Identifier: Apache-2.0
// The privacy guarantees of one round of a trie for the people who answered it (gboard-2024
// Theorems 1 and 2 and Lemma 1). Each sentence says whether it covers one contribution (item) or
// all contributions of a device. Pure.
//
// Item: the epsilon of one record against everybody, and the central epsilon of the smallest block
// for one of its records, by the closed form of Theorem 2, clones and stronger clones
// (amplification.h). There is a central epsilon only where block and honest share are stated
// (guarantee.h). Later rounds are post-processing of this one and ask other devices.
//
// Device: contributions * epsilon against everybody; centrally, group privacy over its
// contributions, which are all in this one round. Lemma 1's k counts contributions. A device
// contributes a word at most once, so k counts devices as well.
#ifndef TRIE_GUARANTEE_H
#define TRIE_GUARANTEE_H

#include "guarantee.h"
#include "trie_layer.h"

#define AGG_TRIE_LINES_MAX 5
#define AGG_TRIE_LINE_MAX 200

typedef struct agg_trie_guarantee {
    double epsilon, delta;
    double n;       // reports of the round
    uint64_t block; // reports of the smallest block; 0 where there is no central epsilon
    double honest;  // share of them that counts
    uint32_t contributions;
    double item[3], device[3]; // central epsilon by enum agg_bound, an upper bound; NAN if the
                               // bound does not apply, and without a block
    double k[3];   // Lemma 1 with subsets of d, d - 1 and d - 2 (as printed), alpha 0.95;
                   // AGG_ANONYMITY_NONE
    double k_kept; // the same with tau at the support of the weakest kept cell; NAN if no cell was
                   // kept
    int n_lines;
    char lines[AGG_TRIE_LINES_MAX][AGG_TRIE_LINE_MAX];
} agg_trie_guarantee;

// Computes all guarantees of a round.
//   layer: of the round: n, and the cells that were kept
//   release: what is stated of blocks and honest reports
// Returns: MEMORY.
// Cost: some tenths of a second at any n.
agg_err agg_trie_guarantee_run(agg_trie_guarantee *out, agg_error *error,
                               const shoal_recipe *recipe, const agg_trie_layer *layer,
                               const agg_release *release) SHOAL_MUST_CHECK;

#endif
