// SPDX-License-Identifier: Apache-2.0
// Composes the epsilon of many answers, as a policy selects. The header is private to the core.
#ifndef SHOAL_ACCOUNTANT_COMPOSITION_H
#define SHOAL_ACCOUNTANT_COMPOSITION_H

#include "policy.h"

// Composes answers whose epsilons are in micro-units.
//   eps: the sum of the epsilons
//   squares: the sum of their squares
//   reports: the number of answers
// Returns: the smallest epsilon that the analysis's composition gives, in micro-units, rounded up.
uint64_t shoal_compose(uint64_t eps, uint64_t squares, uint64_t reports,
                       const shoal_policy_analysis *analysis);

#endif
