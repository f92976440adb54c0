// SPDX-License-Identifier: Apache-2.0
// The chance that the largest of several standard normal variables is far out, for a test that
// looks at every split of a series. Pure.
//
// Split i of a series of T periods gives a standardized difference Z_i, which is standard normal if
// nothing changed. A scan takes the largest |Z_i|. Neighbours are alike: r_i is the correlation of
// Z_i and Z_(i+1). Of events A_i = {|Z_i| >= h},
//
//     P(any A_i) <= P(A_1) + sum over i of ( P(A_(i+1)) - P(A_i and A_(i+1)) )
//
// (Hunter 1976; Worsley 1982 for splits of a series). It is a bound for normal variables with any
// covariance, so also where collisions correlate periods. With L(h, r) the chance that both of a
// pair are above h, P(A_i and A_(i+1)) >= 2 L(h, r_i), and L(h, r) = Q(h) - 2 T(h, a) with Q the
// upper tail of one variable, T Owen's function and a = sqrt((1 - r)/(1 + r)). So
//
//     P(any A_i) <= 2 Q(h) + 4 sum of T(h, a_i)
//
// which has no differences of near numbers, and keeps its precision in the far tail.
#ifndef SPLIT_TAIL_H
#define SPLIT_TAIL_H

#include <stddef.h>

// Returns: the upper tail of the standard normal law.
double agg_normal_tail(double h);

// Returns: Owen's T(h, a) = 1/(2 pi) integral from 0 to a of exp(-h^2 (1 + x^2)/2)/(1 + x^2) dx,
// with a relative error below 1e-9.
//   h: at least 0; a: 0 .. 1
// Source: D. B. Owen, "Tables for computing bivariate normal probabilities", Ann. Math. Stat. 27
// (1956).
double agg_owens_t(double h, double a);

// Returns: what one more split adds to the bound, 4 T(h, a).
//   correlation: with the split before it, -1 .. 1; a correlation of either sign counts
double agg_split_tail_step(double h, double correlation);

#endif
