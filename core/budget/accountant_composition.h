// SPDX-License-Identifier: Apache-2.0
// The epsilon of many answers together, by the composition that a policy names. Private to the
// core.
#ifndef SHOAL_ACCOUNTANT_COMPOSITION_H
#define SHOAL_ACCOUNTANT_COMPOSITION_H

#include "policy.h"

// Composes answers of which each has an epsilon in micro-units.
//   eps: the sum of the epsilons
//   squares: the sum of their squares
//   reports: how many there are
// Returns: the smallest epsilon that the analysis's composition gives, in micro-units, rounded up.
uint64_t shoal_compose(uint64_t eps, uint64_t squares, uint64_t reports,
                       const shoal_policy_analysis *analysis);

#endif
