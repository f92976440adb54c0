// SPDX-License-Identifier: Apache-2.0
// Quantiles of the standard normal law. Pure.
#ifndef NORMAL_LAW_H
#define NORMAL_LAW_H

// Returns: x with P(Z <= x) = p for a standard normal Z, with a relative error of about 1e-15.
//   p: in (0, 1), down to 1e-300. The lower tail keeps its precision, so use
//   -agg_normal_quantile(p) for the upper one.
// Source: M. J. Wichura, "The percentage points of the normal distribution", Applied Statistics 37
// (1988), AS 241 (PPND16).
double agg_normal_quantile(double p);

#endif
