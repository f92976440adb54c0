// SPDX-License-Identifier: Apache-2.0
// Quantiles of the normal law.
#ifndef NORMAL_LAW_H
#define NORMAL_LAW_H

// Returns: x with P(Z <= x) = p for a standard normal Z. Relative error about 1e-15.
//   p: in (0, 1); the lower tail keeps its precision down to 1e-300, so ask for
//   -agg_normal_quantile(p) in the upper tail
// Source: M. J. Wichura, "The percentage points of the normal distribution", Applied Statistics 37
// (1988), AS 241 (PPND16).
double agg_normal_quantile(double p);

#endif
