// SPDX-License-Identifier: Apache-2.0
// The gain in privacy from a crowd: the central guarantee of an aggregate of n local reports,
// computed on the device.
//
// Each of n people sends one report, eps0-private in the replacement model, and only the sum of the
// reports is shown. The sum is (epsilon, delta)-private with
//
//     epsilon = ln(1 + (e^eps0 - 1) (4 sqrt(2 ln(4/delta)) / sqrt((e^eps0 + 1) n) + 4/n))
//     where     eps0 <= ln(n/(8 ln(2/delta)) - 1)
//
// If that condition fails, or epsilon is no better, the guarantee is eps0. Both functions work in
// integers, and round against the analyst, so that the stated guarantee holds. A report in the
// deletion model comes with its replacement epsilon, twice as large.
// Source: apple-2022 Theorem 3.1 (Feldman, McMillan, Talwar, "Stronger privacy amplification by
// shuffling"). The aggregator has tighter bounds of the same quantity (aggregator/account); devices
// decide by this one.
//
// Ranges: eps0_micro 1 .. SHOAL_EPS_MICRO_MAX; delta = 10^-delta_exp, delta_exp 3 .. 15; n 1 ..
// SHOAL_COHORT_MAX. Only honest people count: if only a share of them is honest, n is the number of
// the honest ones.
// Timing: public inputs, not constant.
// Cost: some 25 exponentials, well below a millisecond.
#ifndef SHOAL_CENTRAL_H
#define SHOAL_CENTRAL_H

#include <stdint.h>

#include "shoal_err.h"

#define SHOAL_COHORT_MAX 1000000000000ull // 10^12
#define SHOAL_DELTA_EXP_MIN 3u
#define SHOAL_DELTA_EXP_MAX 15u

// Computes the guarantee of n reports: an upper bound of the true figure, too high by less than 1 +
// 2^-16 micro-units, and at most eps0_micro. It never rises with n, and never falls as eps0_micro
// or delta_exp rise.
//   eps_micro: 1 .. eps0_micro, written on OK
// Returns: SHOAL_ERR_RANGE outside the ranges.
shoal_err shoal_central_epsilon(uint32_t *eps_micro, uint32_t eps0_micro, uint64_t n,
                                uint32_t delta_exp) SHOAL_MUST_CHECK;

// Finds the smallest n whose guarantee, as computed above, is eps_micro or better; 1 if eps_micro
// >= eps0_micro. Every larger n has that guarantee, too.
//   n: written on OK
// Returns: SHOAL_ERR_RANGE outside the ranges, or if no n up to SHOAL_COHORT_MAX is enough.
shoal_err shoal_central_cohort(uint64_t *n, uint32_t eps0_micro, uint32_t eps_micro,
                               uint32_t delta_exp) SHOAL_MUST_CHECK;

#endif
