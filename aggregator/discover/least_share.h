// SPDX-License-Identifier: Apache-2.0
// Says how frequent a string has to be before a discovery finds it, by the recipe's own parts.
// Pure.
//
// A discovery finds a string where each of its pieces and the whole string stand out from the
// noise. The share is the one at which the weakest of these steps succeeds as often as not, so that
// rarer strings are mostly missed, and no result says anything about them.
#ifndef LEAST_SHARE_H
#define LEAST_SHARE_H

#include "recipe_json.h"

// Returns: the share of a round's n reports that hold a string which is found with a chance of
// about one half; 1 if no share is enough.
//   recipe: of a mechanism that finds strings. Of a trie it is one round; a word has to be found in
//   the round of each of its starts, so that the largest share of all rounds counts
//   n: reports, 1 or more
//   fdr: the false-discovery rate, in (0, 1); read of a trie only
//   same: the chance that two reports hold the same string, as far as it is known; strings that
//   share a row add to its noise. 0: all are different; read of sfp only
// Source: sfp_plan.h, ngram_plan.h and trie_plan.h, whose terms it takes. Of a trie the bar is that
// of a round in which nothing stands out; it is lower where much does.
double agg_least_share(const agg_recipe *recipe, double n, double fdr, double same);

// Returns: `score` standard errors of a part's count of what nobody sent, as a share of n reports;
// at most 1. `same` as in agg_least_share. For mechanisms' own shares.
double agg_least_share_of(const shoal_part *part, double n, double same, double score);

#endif
