// SPDX-License-Identifier: Apache-2.0
// Privacy amplification by the blanket: B. Balle, J. Bell, A. Gascon, K. Nissim, "The privacy
// blanket of the shuffle model" (2019), summed numerically over the mechanism's own law.
//
// Every report holds the blanket, which does not depend on its input. Whoever knows all other
// inputs, and which reports are not of the blanket, still cannot tell which report of the blanket
// is the device's. With Z = (own - e^eps other)/least in a class with probability `least`
// (pair_law.h), and 0 else,
//   delta(eps) <= E max(0, Z_1 + ... + Z_n) / n.
//
// The sum's law is computed on a grid by doubling. Values between two points of the grid are split
// among them so that their mean stays; since max(0, .) is convex, that never lowers the result. The
// lower tail is moved up to the window's end, which never lowers it either, and what is lost above
// the window is counted as if all reports had the largest value. All terms are positive, so they
// keep their relative precision, and the errors of rounding, which grow with n, are added; the
// result of a Fourier transform would be off by more than delta. Doubles.
#ifndef BLANKET_H
#define BLANKET_H

#include "amplification.h"
#include "pair_law.h"

// Brackets the central epsilon for all contributions of the crowd, whose pair is read. `upper` is
// the bound; `lower` is that of a test (variation_ratio.h), which no bound can be below. Both are
// NAN where the law is not known, a class has no blanket, or nothing is gained on contributions
// times local_epsilon in the first three digits. Returns: AGG_ERR_MEMORY. Cost: 0.05 s; 0.5 s where
// the bound and the test are far apart.
agg_err agg_blanket_epsilon(agg_central *central, agg_error *error,
                            const agg_crowd *crowd) SHOAL_MUST_CHECK;

// Sets *kept to whether the bound promises an epsilon of one report.
agg_err agg_blanket_keeps(bool *kept, agg_error *error, const agg_crowd *crowd,
                          double epsilon) SHOAL_MUST_CHECK;

// Bounds the delta of one of n reports at a central epsilon from above.
//   tiny: the most that may be added for what is outside the windows
agg_err agg_blanket_delta(double *delta, agg_error *error, const agg_pair_law *law, double n,
                          double epsilon, double tiny) SHOAL_MUST_CHECK;

#endif
