// SPDX-License-Identifier: Apache-2.0
// The privacy guarantees of a result for the people whose reports are in it. The local guarantee
// holds against everybody; the central one holds against those who see only the sum.
//
// Local: the epsilon of one report in the replacement model, summed over a record's parts. Both the
// stated epsilon, which the randomizer never exceeds, and the exact epsilon of its thresholds are
// given. The reports that the recipe lets a person send in a day are given as well.
//
// Central: (epsilon, delta) of the sum of n reports, for a person with one report among them. It is
// computed from the stated epsilon. It is the least of Theorem 3.1's closed form, the stronger
// clones (amplification.h) and a bound of the mechanism's own, if there is one (renyi.h). Reports
// that are not honest add no privacy, so only the honest share of n is counted.
//
// Every printed result carries its guarantees. The Renyi route is a member of the mechanism's
// account. Pure; any thread.
#ifndef GUARANTEE_H
#define GUARANTEE_H

#include <stdbool.h>
#include <stdint.h>

#include "agg_error.h"
#include "recipe_ref.h"

#define AGG_DELTA_UNSTATED 1e-9 // for recipes without cohort.delta
#define AGG_HONEST_MIN 0.01     // the least honest share that may be assumed

typedef struct agg_guarantee {
    double local, drawn; // epsilon of one report: as stated, and by its thresholds
    uint32_t per_day;    // reports of a person in a day; for a trie all that a person ever sends
    bool is_of_items;    // epsilon and central are those of one item, and so is the wording
    uint64_t reports;
    double honest; // honest share of the reports
    double delta;
    bool is_delta_stated;
    double central;     // central epsilon, an upper bound; NAN if no bound improves on `local` by a
                        // thousandth of it
    const char *bound;  // the bound that gave `central`: "closed_form", "stronger" or "renyi"; NULL
                        // without one
    double claim;       // the recipe's cohort.epsilon, at `delta`; 0 where it claims none
    bool is_claim_kept; // by `central`, or by `local` alone
} agg_guarantee;

// Computes the guarantees of a sum of n reports of a finished recipe.
//   honest: AGG_HONEST_MIN .. 1
// Returns: AGG_ERR_MEMORY.
// Cost: 0.1 s at any n, with the Renyi route 0.4 s.
agg_err agg_guarantee_run(agg_guarantee *guarantee, agg_error *error, const shoal_recipe *recipe,
                          uint64_t n, double honest) SHOAL_MUST_CHECK;

// Returns: how many of n reports count when this share is honest; whole, at least 1.
double agg_honest_reports(double n, double honest);

// Adds up the promises of two disjoint results to a person with one report in each. Their epsilons
// add. A result with a central epsilon counts with it and its delta; any other counts with its
// local epsilon.
void agg_guarantee_both(double *epsilon, double *delta, const agg_guarantee *a,
                        const agg_guarantee *b);

#endif
