// SPDX-License-Identifier: Apache-2.0
// What a crowd adds: the central guarantee of an aggregate of n local reports, computed on the
// device.
//
// One report of each of n people, each eps0-private in the replacement model, shown only as their
// sum, is (epsilon, delta)-private with
//
//     epsilon = ln(1 + (e^eps0 - 1) (4 sqrt(2 ln(4/delta)) / sqrt((e^eps0 + 1) n) + 4/n))
//     where     eps0 <= ln(n/(8 ln(2/delta)) - 1)
//
// and where that condition fails, or epsilon is no better, it is eps0. Both functions work in
// integers, and every rounding is against the analyst: what is said to hold does hold. A report in
// the deletion model comes with its replacement epsilon, twice as large. Source: apple-2022
// Theorem 3.1 (Feldman, McMillan, Talwar, "Stronger privacy amplification by shuffling"). Tighter
// bounds of the same thing are the aggregator's (aggregator/account); devices decide by this one.
//
// Ranges: eps0_micro 1 .. SHOAL_EPS_MICRO_MAX; delta = 10^-delta_exp, delta_exp 3 .. 15; n 1 ..
// SHOAL_COHORT_MAX. The people who are counted must be honest: where only a share of n is, n is
// that share. Timing: public inputs, not constant. Cost: some 25 exponentials, well below a
// millisecond.
#ifndef SHOAL_CENTRAL_H
#define SHOAL_CENTRAL_H

#include <stdint.h>

#include "shoal_err.h"

#define SHOAL_COHORT_MAX 1000000000000ull // 10^12
#define SHOAL_DELTA_EXP_MIN 3u
#define SHOAL_DELTA_EXP_MAX 15u

// The guarantee of n reports: an upper bound of the true figure in micro-units, above it by less
// than 1 + 2^-16 of them, at most eps0_micro. It never rises with n, and never falls as eps0_micro
// or delta_exp rise.
//   eps_micro: 1 .. eps0_micro, written on OK
// Returns: SHOAL_ERR_RANGE outside the ranges.
shoal_err shoal_central_epsilon(uint32_t *eps_micro, uint32_t eps0_micro, uint64_t n,
                                uint32_t delta_exp) SHOAL_MUST_CHECK;

// The smallest n whose guarantee, as computed above, is eps_micro or better; 1 where eps_micro >=
// eps0_micro. Every larger n has it too.
//   n: written on OK
// Returns: SHOAL_ERR_RANGE outside the ranges, and where no n up to SHOAL_COHORT_MAX is enough.
shoal_err shoal_central_cohort(uint64_t *n, uint32_t eps0_micro, uint32_t eps_micro,
                               uint32_t delta_exp) SHOAL_MUST_CHECK;

#endif
