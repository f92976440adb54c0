// SPDX-License-Identifier: Apache-2.0
// Composition by numbers: the law of the privacy loss of many queries to the same crowd.
//
// A query's curve of delta over epsilon says more than one point of it. A pair of laws has that
// curve, and whatever two inputs of the query give is never farther apart than the pair (J. Zhu,
// J. Dong, Y.-X. Wang, "Optimal accounting of differential privacy via characteristic function",
// 2022: pairs that dominate compose, also where queries are chosen after earlier answers). So the
// loss of all queries together is the sum of independent losses.
//
// The curve is evaluated at knots. Between two of them, as a function of e^epsilon, it is replaced
// by the straight line, which a convex curve is never above (V. Doroshenko, B. Ghazi, P. Kamath,
// R. Kumar, P. Manurangsi, "Connect the dots", 2022); below epsilon 0 it follows from the other
// direction, which has the same bound. What is left is a law of finitely many losses. Sums are on a
// grid: a loss between two points is split among them so that both laws of the pair keep their
// totals, which is the inverse of post-processing and so never lowers delta. What is cut off above
// counts as a loss without bound, what is below as the least that is kept. All terms are positive,
// so that they keep their relative precision; rounding is added. Doubles.
#ifndef PRIVACY_LOSS_H
#define PRIVACY_LOSS_H

#include "amplification.h"

// Queries of one kind.
typedef struct agg_loss_kind {
    double local_epsilon;     // of one report, replacement model
    double n;                 // honest reports
    double count;             // how many such queries: whole, at least 1
    const agg_pair_law *pair; // of the mechanism; NULL: not known, and the stronger bound counts
} agg_loss_kind;

// Bounds the central epsilon of all queries together for a person with `contributions` reports in
// each.
//   delta: AGG_CROWD_DELTA_MIN .. _MAX
//   contributions: whole, at least 1. Above 1 by group privacy of the whole composition, as
//   agg_crowd says of one query
// Returns in *epsilon: the bound; NAN where it is no better than all local epsilons together.
// Returns: AGG_ERR_MEMORY.
// Cost: 60 evaluations of the bound of each kind, 0.3 s at 10^9 reports.
agg_err agg_loss_epsilon(double *epsilon, agg_error *error, const agg_loss_kind *kinds,
                         size_t n_kinds, double delta, double contributions) SHOAL_MUST_CHECK;

// Bounds the delta of all queries together at `epsilon` for one report in each.
//   tail: the most that may be added for losses that are cut off
agg_err agg_loss_delta(double *delta, agg_error *error, const agg_loss_kind *kinds, size_t n_kinds,
                       double epsilon, double tail) SHOAL_MUST_CHECK;

#endif
