// SPDX-License-Identifier: Apache-2.0
// Enumerates a randomizer's whole output law: the probability of every record under every item, and
// all their ratios. The result has no sampling error and does not rely on a formula for epsilon.
#ifndef AUDIT_LAW_H
#define AUDIT_LAW_H

#include <stdint.h>

#include "agg_error.h"
#include "recipe.h"

#define AGG_LAW_WORK_MAX ((uint64_t)1 << 24) // the most items times records; a few seconds

// Relative slack for comparing doubles. A probability is a product of up to some thousand factors,
// each right to 2^-53, and so is right to at least 1e-12. A bound counts as broken only if it is
// exceeded by more than this share.
#define AGG_LAW_SLACK 1e-9

typedef struct agg_law {
    int is_enumerated;  // 0: the law is too large, and nothing below is set
    int is_whole;       // 1: all items were tried; 0: a sample of them (open strings, numbers)
    uint64_t n_items;   // items of the part with most
    uint64_t n_outputs; // records with a probability, of the part with most
    double epsilon;   // ln of the largest ratio between two items, over all records; infinite if an
                      // item cannot make a record that another can
    double deletion;  // the same ratio between an item and "none"
    double sum_error; // the largest distance from 1 of an item's sum of probabilities
} agg_law;

// Enumerates the law of a finished recipe. Parts are independent, so their epsilons add up.
// The items of a closed domain are all of its values and "none". An open domain gives 32 strings. A
// range gives 65 fractions with its ends among them, because the law of a fraction is linear in it,
// and "none".
// Cost: at most AGG_LAW_WORK_MAX probabilities for each part.
agg_err agg_law_enumerate(agg_law *law, agg_error *error, const shoal_recipe *recipe,
                          unsigned n_threads) SHOAL_MUST_CHECK;

#endif
