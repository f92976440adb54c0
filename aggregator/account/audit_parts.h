// SPDX-License-Identifier: Apache-2.0
// Helpers for auditing a recipe of several parts. They tell which parts are alike, how many times
// the recipe's epsilon includes each part's, and what the parts' epsilons sum to.
#ifndef AUDIT_PARTS_H
#define AUDIT_PARTS_H

#include <stdbool.h>

#include "recipe_json.h"

// Three values of a recipe's epsilon, each over all parts, and the audit's verdict.
typedef struct agg_audit_sum {
    double claimed; // as the recipe claims
    double exact;   // from the integer thresholds; INFINITY if a part's epsilon cannot be computed
    double low;     // sum of the parts' lower bounds that draws show; they all hold at once
    bool is_ok;     // every part passed its own audit, and exact <= claimed
} agg_audit_sum;

// Returns: whether the recipe belongs to a run over epochs. The epsilon of such a recipe covers all
// reports of the run.
bool agg_audit_is_run(const shoal_recipe *recipe);

// Returns: the length of the series of like parts that starts at `first`, at least 1. Like parts
// have the same mechanism, k, m, epsilon and seed. The n-grams of rappor-ngram are such a series:
// they differ only in their place in a record.
uint32_t agg_audit_count_alike(const shoal_recipe *recipe, uint32_t first);

// Returns: the number of such series in the recipe.
uint32_t agg_audit_count_kinds(const shoal_recipe *recipe);

// Returns: how many times the recipe's epsilon includes the part's. It is 1 except in runs, for
// which core/compound/evolving.h has the numbers.
uint32_t agg_audit_times(const shoal_recipe *recipe, uint32_t part);

// Returns: the sum of the parts' epsilons, each agg_audit_times over, from their integer
// thresholds. INFINITY if a part's epsilon cannot be computed.
double agg_audit_exact_sum(const shoal_recipe *recipe);

#endif
