// SPDX-License-Identifier: Apache-2.0
// Exact one-sided confidence bounds on the probability of a hit, from a count of hits. They hold
// for every probability and every count.
#ifndef CLOPPER_PEARSON_H
#define CLOPPER_PEARSON_H

#include <stdint.h>

// Returns: the regularized incomplete beta function I_x(a, b), which is the probability that a
// beta(a, b) variable is at most x. The relative error of the smaller tail is below 1e-13 (a + b)
// ln(a + b) + 1e-14.
//   a, b: > 0, up to 1e9
//   x: in [0, 1]
// Source: the continued fraction of DLMF 8.17.22, by Lentz's method.
double agg_incomplete_beta(double a, double b, double x);

// Returns: the probability p below which `hits` or more of n independent draws happen with
// probability alpha at most; 0 if there is no hit. The true probability lies below p with
// probability alpha at most. The result is rounded outwards, to the smaller side.
//   hits: 0 .. n
//   n: 1 .. 10^9
//   alpha: in (0, 1/2]
// Source: C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits", Biometrika
// 26 (1934).
double agg_clopper_pearson_lower(uint64_t hits, uint64_t n, double alpha);

// Returns: the matching upper bound; 1 if all n draws are hits.
double agg_clopper_pearson_upper(uint64_t hits, uint64_t n, double alpha);

#endif
