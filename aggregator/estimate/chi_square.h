// SPDX-License-Identifier: Apache-2.0
// The upper tail of the chi-square law and its quantile. Pure.
#ifndef CHI_SQUARE_H
#define CHI_SQUARE_H

// Returns: P(C >= x) for C of the chi-square law with df degrees of freedom; NaN outside the
// ranges. The relative error is below 1e-12 down to 1e-300. Where the result is next to 1, the
// error is that of a double.
//   x: at least 0, may be infinite
//   df: 1 .. 2e6
// Cost: up to about 7 sqrt(df) terms where x is near df, fewer elsewhere.
double agg_chi_square_tail(double x, double df);

// Returns: x with P(C >= x) = tail; NaN outside the ranges. The relative error is 1e-12 for a tail
// up to 1/2. A tail next to 1 determines x only as well as its own last digit does.
//   tail: in (0, 1), down to 1e-300
//   df: 1 .. 2e6
double agg_chi_square_quantile(double tail, double df);

#endif
