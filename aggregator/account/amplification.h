// SPDX-License-Identifier: Apache-2.0
// Privacy amplification: bounds on the central epsilon of n local reports that are shuffled or
// summed.
//
// Closed form: apple-2022 Theorem 3.1 (gboard-2024 Theorem 2), where its condition on epsilon0
// holds.
//
// Clones: V. Feldman, A. McMillan, K. Talwar, "Hiding among the clones" (2020), Theorem 3.1, with C
// ~ Bin(n - 1, e^-eps0).
//
// Stronger clones: the same authors, "Stronger privacy amplification by shuffling for Renyi and
// approximate differential privacy" (2022), with C ~ Bin(n - 1, 2/(e^eps0 + 1)).
//
// Blanket: the only one that knows the mechanism (blanket.h), and nearly always the least.
//
// The two bounds of clones compare P = (A + D, C + 1 - A - D) with Q = (A + 1 - D, C - A + D),
// where A ~ Bin(C, 1/2) and D is a coin of probability e^eps0/(e^eps0 + 1). P and Q are mirror
// images, so both directions have the same delta. Given C, delta has a closed form in one binomial
// tail. Delta falls with C, because adding a fair coin is post-processing. Sums over C therefore
// bracket delta rigorously: every epsilon here is an upper bound with a lower bound beside it,
// rounding included.
//
// Every epsilon0 is of the replacement model; a randomizer that is eps-private in the deletion
// model has 2 eps here. n counts honest reports only, because other reports add no privacy
// (apple-2022 section 5). Pure but for memory; doubles.
#ifndef AMPLIFICATION_H
#define AMPLIFICATION_H

#include <stdbool.h>
#include <stdint.h>

#include "agg_error.h"
#include "pair_law.h"

#define AGG_CROWD_EPSILON_MIN 1e-3
#define AGG_CROWD_EPSILON_MAX 32.0
#define AGG_CROWD_REPORTS_MAX 1e12
#define AGG_CROWD_DELTA_MIN 1e-15
#define AGG_CROWD_DELTA_MAX 1e-3

typedef enum agg_bound {
    AGG_BOUND_CLOSED_FORM,
    AGG_BOUND_CLONES,
    AGG_BOUND_STRONGER,
    AGG_BOUND_BLANKET
} agg_bound;
#define AGG_BOUNDS 4
#define AGG_GENERAL_BOUNDS 3 // those that hold for every mechanism; they come first

extern const char *const agg_bound_names[AGG_BOUNDS]; // "closed_form", "clones", "stronger",
                                                      // "blanket"

// The crowd and the delta that a bound is computed for.
typedef struct agg_crowd {
    double local_epsilon; // for one report, replacement model: AGG_CROWD_EPSILON_MIN .. _MAX
    double n;             // honest reports: whole, 1 .. AGG_CROWD_REPORTS_MAX
    double delta; // AGG_CROWD_DELTA_MIN .. _MAX for one report; down to 1e-30 where delta is shared
                  // among many
    double contributions; // reports of one person that are protected together: whole, at least 1.
                          // Above 1 by group privacy: (eps, d)-private for one is (B eps, d (e^(B
                          // eps) - 1)/(e^eps - 1))-private for B
    const agg_pair_law *pair; // of the mechanism; NULL: not known
} agg_crowd;

// A bracket of the bound's own value: lower < upper, and upper is the value to claim. Both are NAN
// if the bound's condition fails, if it needs a mechanism that is not known, or if it is no better
// than contributions times local_epsilon.
typedef struct agg_central {
    double lower, upper;
} agg_central;

// Computes the central epsilon by one bound.
//   is_fine: the bracket is no wider than about 1e-5 of epsilon; otherwise it is ten times as wide
//   and found several times as fast
// Returns: AGG_ERR_MEMORY.
// Cost: below half a second at any n.
agg_err agg_crowd_epsilon(agg_central *central, agg_error *error, const agg_crowd *crowd,
                          agg_bound bound, bool is_fine) SHOAL_MUST_CHECK;

// Brackets the delta of one contribution at a given central epsilon.
//   bound: clones or stronger
agg_err agg_crowd_delta(agg_central *delta, agg_error *error, const agg_crowd *crowd,
                        agg_bound bound, double epsilon) SHOAL_MUST_CHECK;

// Sets *kept to whether the bound promises `epsilon` for all contributions together.
agg_err agg_crowd_keeps(bool *kept, agg_error *error, const agg_crowd *crowd, agg_bound bound,
                        double epsilon) SHOAL_MUST_CHECK;

// Finds the fewest honest reports for which the bound promises `epsilon`.
//   n: the result; NAN if AGG_CROWD_REPORTS_MAX are too few
//   crowd: n is not read
agg_err agg_crowd_find_reports(double *n, agg_error *error, const agg_crowd *crowd, agg_bound bound,
                               double epsilon) SHOAL_MUST_CHECK;

// Finds the largest local epsilon for which the bound promises `epsilon`.
//   local_epsilon: the result, rounded down. At least the value that needs no crowd (epsilon
//   divided by the contributions), at most AGG_CROWD_EPSILON_MAX
//   crowd: local_epsilon is not read
agg_err agg_crowd_find_local_epsilon(double *local_epsilon, agg_error *error,
                                     const agg_crowd *crowd, agg_bound bound,
                                     double epsilon) SHOAL_MUST_CHECK;

#endif
