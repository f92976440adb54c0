// SPDX-License-Identifier: Apache-2.0
// Enumerates a randomizer's whole output law: the probability of every record under every item, and
// all their ratios. The result has neither sampling error nor a formula behind it.
#ifndef AUDIT_LAW_H
#define AUDIT_LAW_H

#include <stdint.h>

#include "agg_error.h"
#include "recipe.h"

#define AGG_LAW_WORK_MAX ((uint64_t)1 << 24) // items times records; a few seconds

// Doubles carry the law: a probability is a product of up to some thousand factors, each right to
// 2^-53, and so right to 1e-12 relative at least. A bound is broken only by more than this share of
// it.
#define AGG_LAW_SLACK 1e-9

typedef struct agg_law {
    int is_enumerated;  // 0: too large; nothing below is set
    int is_whole;       // all items were tried; else a sample of them (open strings, numbers)
    uint64_t n_items;   // of the part with most
    uint64_t n_outputs; // records with a probability, of the part with most
    double epsilon;   // ln of the largest ratio of any two items, over all records; infinite where
                      // one item cannot make a record
    double deletion;  // the same between any item and "none"
    double sum_error; // how far from 1 any item's probabilities sum
} agg_law;

// Enumerates the law of a finished recipe. Parts are independent: their epsilons add.
// Items: all of a closed domain, and "none"; 32 strings of an open domain; 65 fractions of a range,
// its ends among them (the law of a fraction is linear in it), and "none". Cost: at most
// AGG_LAW_WORK_MAX probabilities for each part
agg_err agg_law_enumerate(agg_law *law, agg_error *error, const shoal_recipe *recipe,
                          unsigned n_threads) SHOAL_MUST_CHECK;

#endif
