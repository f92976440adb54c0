// SPDX-License-Identifier: Apache-2.0
// The privacy guarantees of a result for the people whose reports are in it. The local guarantee
// holds against everybody; the central one holds against those who see only the sum.
//
// Local: epsilon of one report in the replacement model, summed over a record's parts. The stated
// epsilon, which no draw exceeds, and the epsilon as really drawn are both given, with what the
// recipe lets a person send in a day.
//
// Central: (epsilon, delta) of the sum of n reports, for a person with one report among them. It is
// computed from the stated epsilon and is the least of Theorem 3.1's closed form, the stronger
// clones (amplification.h) and, for mechanisms that have one, a bound of their own (renyi.h).
// Reports that are not honest add no privacy, so only the honest share of n is counted.
//
// Every printed result carries its guarantees. The Renyi route is a member of the mechanism's
// account. Pure; any thread.
#ifndef GUARANTEE_H
#define GUARANTEE_H

#include <stdbool.h>
#include <stdint.h>

#include "agg_error.h"
#include "recipe.h"

#define AGG_DELTA_UNSTATED 1e-9 // of recipes without cohort.delta
#define AGG_HONEST_MIN 0.01     // the least share that may be assumed

typedef struct agg_guarantee {
    double local, drawn; // epsilon of one report
    uint32_t per_day;    // reports of a person; of a trie all that it ever sends, its contributions
    bool is_of_items;    // epsilon and central are then an item's, as are the words for them
    uint64_t reports;
    double honest; // share of them
    double delta;
    bool is_delta_stated;
    double central;     // epsilon, an upper bound; NAN where no bound is better than `local` by a
                        // thousandth of it
    const char *bound;  // that of `central`: "closed_form", "stronger" or "renyi"; NULL without one
    double claim;       // the recipe's cohort.epsilon, at `delta`; 0 where it claims none
    bool is_claim_kept; // by `central`, or by `local` alone
} agg_guarantee;

// Computes the guarantees of a sum of n reports of this finished recipe.
//   honest: AGG_HONEST_MIN .. 1
// Returns: AGG_ERR_MEMORY. Cost: 0.1 s at any n, with the Renyi route 0.4 s.
agg_err agg_guarantee_run(agg_guarantee *guarantee, agg_error *error, const shoal_recipe *recipe,
                          uint64_t n, double honest) SHOAL_MUST_CHECK;

// Returns: how many of n reports count when this share is honest; whole, at least 1.
double agg_honest_reports(double n, double honest);

// What two disjoint results promise a person with one report in each: epsilons add, and so do the
// deltas of the sides that have a central epsilon; the others count with their local one.
void agg_guarantee_both(double *epsilon, double *delta, const agg_guarantee *a,
                        const agg_guarantee *b);

#endif
