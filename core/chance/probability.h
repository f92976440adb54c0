// SPDX-License-Identifier: Apache-2.0
// Conversion from epsilon to an integer threshold, and back.
//
// Every coin of a randomizer is a Bernoulli draw with probability threshold / 2^64. The rare side
// of a coin whose odds are e^x has probability 1/(e^x + 1). `shoal_threshold` returns a T with
//
//     T >= 2^64/(e^x + 1),     T < 2^64/(e^x + 1) + 1 + 2^-40,
//     x = eps_micro / (1,000,000 * halves)
//
// The odds really drawn, (2^64 - T)/T, are therefore never above e^x, which privacy needs. They
// fall short of e^x by a relative (1 + 2^-40) (1/T + 1/(2^64 - T)) at most, so almost no noise is
// wasted. T is 2^63 for x -> 0 and about 2^40.9 for x = 16.
// Source: DESIGN decision 1; the odds are those of apple-2017 Algorithms 2 and 6 and apple-2022
// Algorithm 1.
#ifndef SHOAL_PROBABILITY_H
#define SHOAL_PROBABILITY_H

#include <stdint.h>

#include "shoal_err.h"

// Range of epsilon in micro-units: 4.0 is 4,000,000.
#define SHOAL_EPS_MICRO_MIN 10000u
#define SHOAL_EPS_MICRO_MAX 16000000u

// Computes the threshold of the rare side of a coin with odds e^(epsilon/halves).
//   threshold: written on OK
//   eps_micro: SHOAL_EPS_MICRO_MIN .. SHOAL_EPS_MICRO_MAX
//   halves: 1 or 2; 2 if a change of value moves two coins (CMS)
// Returns: SHOAL_ERR_RANGE if an argument is out of range.
shoal_err shoal_threshold(uint64_t *threshold, uint32_t eps_micro,
                          uint32_t halves) SHOAL_MUST_CHECK;

// Computes the threshold of the coin that lies, where the truth has weight a e^epsilon against b.
// It is T = ceil(2^64 / ((a/b) e^epsilon + 1)), so that (2^64 - T)/T <= (a/b) e^epsilon. Randomized
// response over s answers has a = 1, b = s - 1; subset selection of d in s has a = d, b = s - d.
//   threshold: written on OK; above 2^63 if the truth is the rare side
//   a, b: 1 .. 2^25
// Returns: SHOAL_ERR_RANGE if an argument is out of range.
shoal_err shoal_threshold_odds(uint64_t *threshold, uint32_t eps_micro, uint32_t a,
                               uint32_t b) SHOAL_MUST_CHECK;

// Computes the inverse of shoal_threshold_odds, rounded up as in shoal_threshold_epsilon.
shoal_err shoal_threshold_odds_epsilon(uint32_t *eps_micro, uint64_t threshold, uint32_t a,
                                       uint32_t b) SHOAL_MUST_CHECK;

// Computes the smallest epsilon, in micro-units, that a coin with this threshold provably keeps:
// the inverse of shoal_threshold, rounded up.
//   eps_micro: written on OK
// Returns: SHOAL_ERR_RANGE if threshold > 2^63 or no epsilon up to SHOAL_EPS_MICRO_MAX covers it.
shoal_err shoal_threshold_epsilon(uint32_t *eps_micro, uint64_t threshold,
                                  uint32_t halves) SHOAL_MUST_CHECK;

#endif
