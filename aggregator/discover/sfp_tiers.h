// SPDX-License-Identifier: Apache-2.0
// Decides which candidates a second oracle confirms when a first oracle says which are likely (Hu,
// Zhao and Zhou, "False discovery rate control with groups", J. Am. Stat. Assoc. 105, 2010). Pure;
// private to discover/.
//
// Candidates come in groups that the second oracle did not influence. A group's share of null
// candidates, pi, is estimated from its scores below 0, since half of the null candidates score
// there. A candidate's p-value is divided by its group's weight (1 - pi)/pi. Benjamini and
// Hochberg's rule is then applied. A group of words that the fragments almost prove needs little
// more than the level itself. A group of a thousand random strings does not raise the bar for the
// others.
//
// The expected share of strings that nobody sent among the confirmed is at most `fdr` if their
// scores are independent. No candidate is confirmed that would not be confirmed as the only one.
// Known candidates are not shown, so the rule leaves them out. Otherwise known words that stand out
// anyway would let more of the others pass, and the rate would be that of a list which nobody sees.
#ifndef SFP_TIERS_H
#define SFP_TIERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"

// Writes whether each candidate is confirmed.
//   scores: of the second oracle, standard normal or less for a string that nobody sent
//   groups: each below n_groups
//   known: of each candidate, or NULL. Known candidates are judged among all, the others among
//   themselves
// Cost: sorts the candidates whose p-value alone would be enough.
agg_err agg_sfp_tiers_confirm(bool *confirmed, agg_error *error, const double *scores,
                              const uint16_t *groups, const bool *known, size_t n, size_t n_groups,
                              double fdr) SHOAL_MUST_CHECK;

#endif
