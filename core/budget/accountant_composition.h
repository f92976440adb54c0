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

#define SHOAL_GROUP_DELTA_MAX 1000000000000u // 1e-3, in units of 1e-15: the largest delta

// Computes the delta of n reports of one person together, rounded up. Where it is far above every
// delta that a policy can state, or n eps is above every budget, it returns twice the largest: the
// query is refused in any case.
//   delta: of one report, in units of 1e-15, 1 or more
//   eps: of one report, in micro-units
uint64_t shoal_group_delta(uint64_t delta, uint32_t n, uint64_t eps);

#endif
