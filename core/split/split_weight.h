// SPDX-License-Identifier: Apache-2.0
// Bounds the number of bits of an honest record: a bound on the tail of a binomial law, in
// integers. Private to the core.
//
// A one-hot record is n coins of probability q = threshold/2^64 and one coin of probability
// hot/2^64, all independent. Its weight X is the number of ones. With w(j) the law of the n coins
// relative to its mode,
//
//     P(X > W) = (sum of w(j) over j > W, + w(W) hot/2^64) / sum of all w(j)
//
// Each term above the mode follows from the one before:
//
//     w(j + 1)/w(j) = (n - j) q / ((j + 1) (1 - q))
//
// The terms are computed twice, rounded up for the numerator (the tail) and rounded down for the
// denominator. The denominator also has the terms below the mode, rounded down in the same way. The
// result is therefore a proven bound. It is above the true probability by at most n 2^-26 of 1e-6,
// so W is the smallest possible unless the tail comes that close to 1e-6.
#ifndef SHOAL_SPLIT_WEIGHT_H
#define SHOAL_SPLIT_WEIGHT_H

#include <stdint.h>

#define SHOAL_SPLIT_COINS_MAX 65535u
#define SHOAL_SPLIT_REFUSALS 1000000 // at most one honest record in a million has too much weight

// Returns: the smallest W whose bound on P(X > W) is at most 1/SHOAL_SPLIT_REFUSALS.
//   refusal: that bound in units of 2^-64, rounded up; 0 if W is n + 1
//   n: 1 .. SHOAL_SPLIT_COINS_MAX
//   threshold: 1 .. 2^63 - 1
//   hot: probability of the last coin, in units of 2^-64
uint32_t shoal_split_weight(uint64_t *refusal, uint32_t n, uint64_t threshold, uint64_t hot);

#endif
