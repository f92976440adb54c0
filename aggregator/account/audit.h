// SPDX-License-Identifier: Apache-2.0
// Audits whether a recipe's epsilon is what the recipe claims. Three methods that share little code
// check it: a closed form from the integer thresholds, the whole output law by enumeration, and a
// lower bound from draws of the randomizer.
#ifndef AUDIT_H
#define AUDIT_H

#include <stdbool.h>

#include "audit_draws.h"
#include "audit_events.h"
#include "audit_law.h"

#define AGG_AUDIT_FAILURES_MAX 6u // one for each check

typedef struct agg_audit {
    const agg_recipe *recipe;
    double claimed;    // the recipe's cost of one report
    double exact;      // shoal_recipe_epsilon; infinite if the thresholds have no epsilon up to 16
    agg_law law;       // the enumerated law
    bool is_permanent; // devices keep a permanent answer; the next two members are set
    double unlimited;  // closed form for any number of reports of one value; infinite: no bound
    agg_law answer;    // the enumerated law of the permanent answer itself
    double empirical_low; // the lower bound on epsilon from draws; 0 where they prove nothing
    double confidence;
    uint64_t n_draws; // draws of all items
    uint32_t n_events;
    agg_event event;     // the event that proves most
    uint64_t n_refused;  // draws that the recipe's randomizer cannot have made
    uint32_t n_failures; // 0: every check upholds the claim
    char failures[AGG_AUDIT_FAILURES_MAX][320];
} agg_audit;

// Extracts one part of a recipe for an audit by parts. The positions reveal nothing about the
// value. Given them the parts are independent, so their epsilons add up.
//   one: the recipe of that part alone, as a recipe of its own mechanism; points into `recipe` and
//   `own`, and is not released
//   own: written; the fields of `one`
//   part: below recipe->recipe->n_parts
void agg_audit_part(agg_recipe *one, shoal_recipe *own, const agg_recipe *recipe, uint32_t part);

// Audits a recipe of one part against draws.
//   draws: of at least two items
//   confidence: probability that empirical_low is below the real epsilon, in (0, 1)
// The audit fails if the closed form or the enumeration is above the claim, or the enumeration is
// above the closed form. It fails if a law does not sum to 1, or if the permanent answer's law is
// above its closed form. It also fails if empirical_low is above the claim, or if the randomizer
// cannot have made a record.
agg_err agg_audit_run(agg_audit *audit, agg_error *error, const agg_recipe *recipe,
                      const agg_draws *draws, double confidence,
                      unsigned n_threads) SHOAL_MUST_CHECK;

#endif
