// SPDX-License-Identifier: Apache-2.0
// Chooses mechanism and local epsilon for the least error under a central promise, and says what a
// trusted server would have under the same promise. Pure but for memory; doubles.
#ifndef CENTRAL_PLAN_H
#define CENTRAL_PLAN_H

#include "plan.h"

// What a plan promises of those who see sums of blocks only.
typedef struct agg_central_promise {
    double epsilon; // central, of one report, replacement model: 0.001 .. 16
    double delta;   // AGG_CROWD_DELTA_MIN .. _MAX
    double reports; // honest reports of the smallest block, 1 .. AGG_PLAN_REPORTS_MAX
    // Standard errors of a count that a trusted server releases instead, in reports; of a mean over
    // all devices of the plan, in ranges. agg_central_plan_choose writes them.
    double laplace;  // discrete Laplace noise, which needs no delta
    double gaussian; // Gaussian noise of the least size (Balle and Wang, 2018)
} agg_central_promise;

// Chooses the mechanism and the largest epsilon of one report that keep the promise, with the least
// standard error of a value that hardly anybody holds; of a mean at its worst.
//   wish: eps_micro and mechanism are written. Unless they are 0, they limit the choice to epsilons
//   up to that and to that mechanism
// Returns: AGG_ERR_USAGE where no mechanism makes this plan at all; AGG_ERR_MEMORY.
// Cost: some seconds.
agg_err agg_central_plan_choose(agg_plan_wish *wish, agg_central_promise *promise,
                                agg_error *error) SHOAL_MUST_CHECK;

// Returns: the least standard deviation of Gaussian noise that is (epsilon, delta)-private.
//   sensitivity: in the Euclidean norm, above 0
// Source: B. Balle, Y.-X. Wang, "Improving the Gaussian mechanism for differential privacy" (2018),
// Theorem 8.
double agg_gaussian_noise(double epsilon, double delta, double sensitivity);

// Returns: the standard deviation of discrete Laplace noise that is epsilon-private.
//   sensitivity: of the sum of absolute values, whole, 1 or more
double agg_laplace_noise(double epsilon, double sensitivity);

#endif
