// SPDX-License-Identifier: Apache-2.0
// How many bits an honest record may have: a bound on the tail of a binomial law, in integers.
// Private to the core.
//
// A one-hot record is n coins of probability q = threshold/2^64 and one coin of probability
// hot/2^64, all independent; its weight X is the number of ones. With w(j) the law of the n coins
// relative to its mode,
//
//     P(X > W) = (sum of w(j) over j > W, + w(W) hot/2^64) / sum of all w(j)
//
// The terms above the mode are computed from one another, w(j + 1)/w(j) = (n - j) q / ((j + 1) (1 -
// q)), once rounded up, for the tail, and once rounded down, for the sum below the line, to which
// the terms under the mode are added in the same way. So what is returned is a bound for certain.
// It is above the truth by n 2^-26 of 1e-6 at most, so that W is the smallest there is but where
// the tail comes that close to 1e-6.
#ifndef SHOAL_SPLIT_WEIGHT_H
#define SHOAL_SPLIT_WEIGHT_H

#include <stdint.h>

#define SHOAL_SPLIT_COINS_MAX 65535u
#define SHOAL_SPLIT_REFUSALS 1000000 // one honest record in so many, at most, has too much weight

// Returns: the smallest W whose bound on P(X > W) is at most 1/SHOAL_SPLIT_REFUSALS.
//   refusal: that bound in units of 2^-64, rounded up; 0 where W is n + 1
//   n: 1 .. SHOAL_SPLIT_COINS_MAX
//   threshold: 1 .. 2^63 - 1
uint32_t shoal_split_weight(uint64_t *refusal, uint32_t n, uint64_t threshold, uint64_t hot);

#endif
