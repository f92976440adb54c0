// SPDX-License-Identifier: Apache-2.0
// The upper tail of the gamma and chi-square laws, and its quantile.
#ifndef CHI_SQUARE_H
#define CHI_SQUARE_H

// Returns: P(C >= x) for C of the chi-square law with df degrees of freedom; NaN outside the
// ranges. The relative error is below 1e-12 down to 1e-300. Where the result is next to 1, the
// error is that of a double.
//   x: at least 0, may be infinite
//   df: 1 .. 2e6
// Cost: up to about 7 sqrt(df) terms where x is near df, fewer elsewhere.
double agg_chi_square_tail(double x, double df);

// Returns: x with P(C >= x) = tail, to 1e-12 relative where the tail is at most 1/2; NaN outside
// the ranges.
//   tail: in (0, 1), down to 1e-300; a tail next to 1 says no more about a small x than its own
//   last digit does df: 1 .. 2e6
double agg_chi_square_quantile(double tail, double df);

#endif
