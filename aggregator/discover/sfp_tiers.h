// SPDX-License-Identifier: Apache-2.0
// Decides which candidates a second oracle confirms when a first one says which are likely (Hu,
// Zhao and Zhou, "False discovery rate control with groups", J. Am. Stat. Assoc. 105, 2010). Pure;
// private to discover/.
//
// Candidates come in groups that the second oracle had no part in. The share of a group that is
// nothing, pi, is estimated from its scores below 0 (every other one of nothing is); a candidate's
// p-value is divided by its group's weight (1 - pi)/pi, and what is left is Benjamini and
// Hochberg's rule. A group of words that the fragments have as good as proved is asked for little
// more than the level itself; one of a thousand strings by chance does not make it harder for the
// others.
//
// The expected share of strings that nobody sent among the confirmed is at most `fdr` as far as
// their scores are independent; no candidate is confirmed that would not be if it were the only
// one. Candidates that are known are left out of what is shown, and so out of that rule: words that
// stand out anyway would let more of the others pass, and the share of strings that nobody sent
// would be that of a list which nobody sees.
#ifndef SFP_TIERS_H
#define SFP_TIERS_H

#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"

// Writes whether each is confirmed.
//   scores: of the second oracle, standard normal or less for a string that nobody sent
//   groups: each below n_groups
//   known: of each candidate, or NULL: those that are known are judged among all, the others among
//   themselves
// Cost: sorts those whose p-value alone would do.
agg_err agg_sfp_tiers_confirm(uint8_t *confirmed, agg_error *error, const double *scores,
                              const uint16_t *groups, const uint8_t *known, size_t n,
                              size_t n_groups, double fdr) SHOAL_MUST_CHECK;

#endif
