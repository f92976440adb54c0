// SPDX-License-Identifier: Apache-2.0
// Helpers for auditing a recipe of several parts: which parts are alike, how often each one counts,
// and what their epsilons sum to.
#ifndef AUDIT_PARTS_H
#define AUDIT_PARTS_H

#include <stdbool.h>

#include "recipe_json.h"

// The epsilons of all parts together.
typedef struct agg_audit_sum {
    double claimed; // as the recipe claims
    double exact;   // from the integer thresholds; INFINITY where a part has none
    double low;     // the lower bound from draws
    bool is_ok;
} agg_audit_sum;

// Returns: whether the recipe is of a run over epochs, whose epsilon covers all its reports.
bool agg_audit_is_run(const shoal_recipe *recipe);

// Returns: how many parts from `first` on differ only in their place in a record, as the n-grams of
// rappor-ngram do.
uint32_t agg_audit_count_alike(const shoal_recipe *recipe, uint32_t first);

// Returns: how many kinds of parts there are.
uint32_t agg_audit_count_kinds(const shoal_recipe *recipe);

// Returns: how often a part counts in the recipe's epsilon. For runs see core/compound/evolving.h.
uint32_t agg_audit_times(const shoal_recipe *recipe, uint32_t part);

// Returns: the sum of the parts' epsilons, from their integer thresholds.
double agg_audit_exact_sum(const shoal_recipe *recipe);

#endif
