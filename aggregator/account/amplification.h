// SPDX-License-Identifier: Apache-2.0
// Privacy amplification: the central epsilon of n local reports that are shuffled or summed, by
// three bounds.
//
// Closed form: apple-2022 Theorem 3.1 (gboard-2024 Theorem 2), where its condition on epsilon0
// holds.
//
// Clones: V. Feldman, A. McMillan, K. Talwar, "Hiding among the clones" (2020), Theorem 3.1, with
// C ~ Bin(n - 1, e^-eps0).
//
// Stronger clones: the same authors, "Stronger privacy amplification by shuffling for Renyi and
// approximate differential privacy" (2022), with C ~ Bin(n - 1, 2/(e^eps0 + 1)).
//
// The last two compare P = (A + D, C + 1 - A - D) with Q = (A + 1 - D, C - A + D), A ~ Bin(C, 1/2)
// and D a coin of probability e^eps0/(e^eps0 + 1). P and Q are mirror images, so both directions
// have one delta; given C it has a closed form in one binomial tail, and it falls with C (an added
// fair coin is post-processing). Sums over C therefore bracket it rigorously: every epsilon here is
// an upper bound with a lower bound beside it, rounding included.
//
// All of it is for epsilon0 of the replacement model; a randomizer that is eps-private in the
// deletion model has 2 eps here. n counts honest reports only: what others send adds nothing
// (apple-2022 section 5). Pure but for memory; doubles.
#ifndef AMPLIFICATION_H
#define AMPLIFICATION_H

#include <stdint.h>

#include "agg_error.h"

#define AGG_CROWD_EPSILON_MIN 1e-3
#define AGG_CROWD_EPSILON_MAX 32.0
#define AGG_CROWD_REPORTS_MAX 1e12
#define AGG_CROWD_DELTA_MIN 1e-15
#define AGG_CROWD_DELTA_MAX 1e-3

typedef enum agg_bound { AGG_BOUND_CLOSED_FORM, AGG_BOUND_CLONES, AGG_BOUND_STRONGER } agg_bound;
#define AGG_BOUNDS 3

extern const char *const agg_bound_names[AGG_BOUNDS]; // "closed_form", "clones", "stronger"

// What is asked.
typedef struct agg_crowd {
    double local_epsilon; // of one report, replacement model: AGG_CROWD_EPSILON_MIN .. _MAX
    double n;             // honest reports: whole, 1 .. AGG_CROWD_REPORTS_MAX
    double delta; // AGG_CROWD_DELTA_MIN .. _MAX for one; down to 1e-30 where it is shared out over
                  // many
    double contributions; // reports of one person that are protected together: whole, at least 1.
                          // Above 1 by group privacy: (eps, d)-private for one is (B eps, d (e^(B
                          // eps) - 1)/(e^eps - 1))-private for B
} agg_crowd;

// lower < upper: the bound's own value lies between them; upper is what may be claimed. Both NAN
// where the bound says nothing: its condition fails, or it is no better than contributions times
// local_epsilon.
typedef struct agg_central {
    double lower, upper;
} agg_central;

// Central epsilon by one bound.
//   fine: 1 for a bracket no wider than about 1e-5 of epsilon; 0 for one ten times as wide, several
//   times as fast
// Returns: AGG_ERR_MEMORY. Cost: below half a second at any n.
agg_err agg_crowd_epsilon(agg_central *central, agg_error *error, const agg_crowd *crowd,
                          agg_bound bound, int fine) SHOAL_MUST_CHECK;

// The delta at a given central epsilon, clones or stronger, of one contribution: the bracket of the
// exact sum.
agg_err agg_crowd_delta(agg_central *delta, agg_error *error, const agg_crowd *crowd,
                        agg_bound bound, double epsilon) SHOAL_MUST_CHECK;

// Returns in *n: the fewest honest reports for which the bound promises `epsilon`; NAN where
// AGG_CROWD_REPORTS_MAX are too few.
//   crowd: n is not read
agg_err agg_crowd_find_reports(double *n, agg_error *error, const agg_crowd *crowd, agg_bound bound,
                               double epsilon) SHOAL_MUST_CHECK;

// Returns in *local_epsilon: the largest, rounded down, for which the bound promises `epsilon`,
// without a crowd at the least (epsilon itself, shared among the contributions); at most
// AGG_CROWD_EPSILON_MAX.
//   crowd: local_epsilon is not read
agg_err agg_crowd_find_local_epsilon(double *local_epsilon, agg_error *error,
                                     const agg_crowd *crowd, agg_bound bound,
                                     double epsilon) SHOAL_MUST_CHECK;

#endif
