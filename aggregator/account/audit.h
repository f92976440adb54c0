// SPDX-License-Identifier: Apache-2.0
// The audit of a recipe: whether its epsilon is what it claims to be. Three methods answer, and
// they share little code: a closed form from the integer thresholds, the whole output law by
// enumeration, and a lower bound that draws of the randomizer prove.
#ifndef AUDIT_H
#define AUDIT_H

#include "audit_draws.h"
#include "audit_events.h"
#include "audit_law.h"

#define AGG_AUDIT_FAILURES_MAX 6u // one for each thing that can fail

typedef struct agg_audit {
    const agg_recipe *recipe;
    double claimed;   // the recipe's cost of one report
    double exact;     // shoal_recipe_epsilon; infinite if the thresholds have no epsilon up to 16
    agg_law law;      // enumerated
    int is_permanent; // devices answer from a permanent answer; the next two are set
    double unlimited; // closed form of what any number of reports of one value tell; infinite: no
                      // bound
    agg_law answer;   // enumerated: the law of the permanent answer itself
    double empirical_low; // what draws prove epsilon to be at least; 0 where they prove nothing
    double confidence;
    uint64_t n_draws; // of all items
    uint32_t n_events;
    agg_event event;     // the one that proves most
    uint64_t n_refused;  // draws that the recipe's randomizer cannot have made
    uint32_t n_failures; // 0: the claim holds as far as was looked
    char failures[AGG_AUDIT_FAILURES_MAX][320];
} agg_audit;

// A recipe of several parts is audited part by part: given the positions, which say nothing of the
// value, they are independent, and their epsilons add up.
//   one: the recipe of that part alone, as of its own mechanism; points into `recipe` and is not
//   released part: below recipe->recipe.n_parts
void agg_audit_part(agg_recipe *one, const agg_recipe *recipe, uint32_t part);

// Audits a recipe of one part against draws.
//   draws: of two items at least
//   confidence: probability that empirical_low is below the real epsilon, in (0, 1)
// Reasons to fail: the closed form or the enumeration above the claim; the enumeration above the
// closed form; a law that does not sum to 1; the permanent answer's law above its closed form;
// empirical_low above the claim; a record that the randomizer cannot have made.
agg_err agg_audit_run(agg_audit *audit, agg_error *error, const agg_recipe *recipe,
                      const agg_draws *draws, double confidence,
                      unsigned n_threads) SHOAL_MUST_CHECK;

#endif
