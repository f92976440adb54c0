// SPDX-License-Identifier: Apache-2.0
// Binomial probabilities that keep their relative precision where they are small: far tails, and up
// to 10^12 draws. Pure; doubles.
#ifndef BINOMIAL_H
#define BINOMIAL_H

// The law of the number of hits among n draws. Both probabilities are given so that a p near 0 or
// near 1 keeps its precision.
typedef struct agg_binomial {
    double n;    // whole, 0 .. 10^12
    double p, q; // probabilities of a hit and of a miss; p + q = 1, both in [0, 1]
} agg_binomial;

// Returns: ln P(X = x), -INFINITY if the probability is 0. The absolute error is below 1e-12 for n
// up to 10^8. It is below 1e-8 at 10^12, within 12 standard deviations of the mean.
//   x: whole, any
// Source: C. Loader, "Fast and accurate computation of binomial probabilities" (2000): Stirling's
// remainder and deviances.
double agg_binomial_log(double x, const agg_binomial *law);

// Returns: P(X >= k), with a small relative error however small it is. It is never computed as 1
// minus the other tail where that would cancel.
//   k: whole, any
// Source: DLMF 8.17.5, the integral of the incomplete beta function, by Gauss and Legendre.
double agg_binomial_upper(double k, const agg_binomial *law);

// Returns: P(X <= k), with the same precision.
double agg_binomial_lower(double k, const agg_binomial *law);

// Returns: P(X >= k) / (k P(X = k)) for n draws with p = 1/2, which is the integral alone. It
// serves callers that have the other factors.
//   k: whole, (n + 1)/2 <= k <= n; n >= 1
double agg_binomial_fair_ratio(double k, double n);

#endif
