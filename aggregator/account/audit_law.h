// SPDX-License-Identifier: Apache-2.0
// Enumerates a randomizer's output law: the probability of every record under every item. The
// ratios between items give epsilon without sampling error and without a formula for epsilon.
#ifndef AUDIT_LAW_H
#define AUDIT_LAW_H

#include <stdbool.h>
#include <stdint.h>

#include "agg_error.h"
#include "recipe_ref.h"

// Limit of one part's items times its records. A part at the limit takes a few seconds.
#define AGG_LAW_WORK_MAX ((uint64_t)1 << 24)

// Relative tolerance for comparing doubles: a bound counts as broken only if a value exceeds it by
// more than this share. A probability is a product of up to some thousand factors, each with a
// relative error of 2^-53, so its own relative error is at most 1e-12.
#define AGG_LAW_SLACK 1e-9

typedef struct agg_law {
    bool is_enumerated; // if not, some part's law is too large, and all other fields are 0
    bool is_whole;      // all items were tried, not only a sample of them (open strings, numbers)
    uint64_t n_items;   // number of items tried, the largest over the parts
    uint64_t n_outputs; // number of records that some item can make, the largest over the parts
    // ln of the largest ratio of one record's probabilities under two items, summed over the parts.
    // It is infinite if an item cannot make a record that another item can.
    double epsilon;
    // The same where one of the two items is "none". An open domain has no "none" and adds 0.
    double deletion;
    // A self-check: each item's probabilities must sum to 1 over all records. This is the largest
    // |sum - 1| over items and parts.
    double sum_error;
} agg_law;

// Enumerates the law of a finished recipe. Parts are independent, so their epsilons add up.
// The items tried depend on the part's domain:
//   closed: all listed values, and "none"
//   open: a sample of 32 strings
//   numbers: 65 evenly spaced points of the range, both ends included, and "none"; a record's
//   probability is linear in the number, so the ends have the largest ratio
// Cost: at most AGG_LAW_WORK_MAX probabilities for each part.
agg_err agg_law_enumerate(agg_law *law, agg_error *error, const shoal_recipe *recipe,
                          unsigned n_threads) SHOAL_MUST_CHECK;

#endif
