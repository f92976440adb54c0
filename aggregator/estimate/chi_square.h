// SPDX-License-Identifier: Apache-2.0
// The upper tail of the gamma and chi-square laws, and its quantile.
#ifndef CHI_SQUARE_H
#define CHI_SQUARE_H

// Returns: Q(a, x) = Gamma(a, x) / Gamma(a), the regularized upper incomplete gamma function; NaN
// outside the ranges. Relative error below 1e-12 down to 1e-300, in the upper tail as in the lower
// (where Q is next to 1 the error is that of a double).
//   a: 0.5 .. 1e6
//   x: at least 0, may be infinite
// Cost: up to about 10 sqrt(a) terms where x is near a, fewer elsewhere.
double agg_gamma_upper(double a, double x);

// Returns: P(C >= x) for C of the chi-square law with df degrees of freedom; NaN outside the
// ranges.
//   x: at least 0
//   df: 1 .. 2e6
double agg_chi_square_tail(double x, double df);

// Returns: x with P(C >= x) = tail, to 1e-12 relative where the tail is at most 1/2; NaN outside
// the ranges.
//   tail: in (0, 1), down to 1e-300; a tail next to 1 says no more about a small x than its own
//   last digit does df: 1 .. 2e6
double agg_chi_square_quantile(double tail, double df);

#endif
