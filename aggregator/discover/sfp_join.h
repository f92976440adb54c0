// SPDX-License-Identifier: Apache-2.0
// Joins fragments into strings (apple-2017 Algorithm 10, lines 11-14): the products of each hash
// byte's fragments, pruned while they grow. Private to discover/.
//
// A product is kept if it is a string of the recipe (sfp_text.h), with zero bytes only at its end.
// Its own hash byte must also equal that of its fragments; one of 256 wrongly joined strings passes
// that. A string needs all of its fragments, including those of the zero bytes behind its end.
//
// Strings of c fragments (before the zero bytes) are joined separately for each c, from fragments
// above a score of their own. It is the least score at which they have at most `products` products,
// counted before any is made. A string's strength is the least score of its fragments, since its
// count cannot exceed any of theirs.
#ifndef SFP_JOIN_H
#define SFP_JOIN_H

#include <stdbool.h>

#include "sfp_fragments.h"

#define AGG_SFP_LENGTH_MAX (2 * AGG_SFP_POSITIONS_MAX)

typedef struct agg_sfp_candidate {
    float strength;
    uint8_t n_fragments, len;
    uint8_t bytes[AGG_SFP_LENGTH_MAX];
} agg_sfp_candidate;

// The bounds of the work, for each number of fragments. If a bound is reached, the weaker strings
// are left out.
typedef struct agg_sfp_bounds {
    double products;   // strings that are made and checked
    size_t candidates; // strings that pass the checks
    uint64_t steps;    // fragments that are examined meanwhile
} agg_sfp_bounds;

typedef struct agg_sfp_candidates {
    size_t n, cap;
    agg_sfp_candidate *list;                 // by number of fragments, falling strength, bytes
    size_t start[AGG_SFP_POSITIONS_MAX + 2]; // where the strings of c fragments begin
    double least;                            // the score from which fragments took part in the join
    double cut[AGG_SFP_POSITIONS_MAX +
               1]; // the least strength that was joined, for each c; above `least` to bound work
    bool is_exhausted[AGG_SFP_POSITIONS_MAX + 1]; // `steps` ran out above the cut: some strings are
                                                  // missing in no particular order
} agg_sfp_candidates;

// Joins the fragments. Release the candidates afterwards, also after an error.
// Cost: a few passes over the fragments, then at most `products` strings and `steps` examined
// fragments for each number of fragments.
agg_err agg_sfp_join(agg_sfp_candidates *out, agg_error *error, const shoal_recipe *recipe,
                     const agg_sfp_heavy *heavy, const agg_sfp_bounds *bounds) SHOAL_MUST_CHECK;
void agg_sfp_candidates_release(agg_sfp_candidates *candidates);

#endif
