// SPDX-License-Identifier: Apache-2.0
// Shared formulas of mechanisms whose report supports its device's value with probability p and any
// other value with probability q. Private to account/.
#ifndef INDEX_LAW_H
#define INDEX_LAW_H

#include "account.h"

// Returns: ( f p (1-p) + (n - f) q (1-q) ) / (p - q)^2, the variance of (C - n q)/(p - q).
static inline double index_variance(double n, double f, double p, double q)
{
    return (f * p * (1 - p) + (n - f) * q * (1 - q)) / ((p - q) * (p - q));
}

// Fills in a part of a mechanism that has one variant, which is stated by epsilon and a list.
// Returns: whether the mechanism takes a list of that size.
static inline bool index_propose(shoal_part *part, const agg_wish *wish, uint32_t mechanism,
                                 uint32_t size_max)
{
    if (wish->is_number || wish->size < 2 || wish->size > size_max) return false;
    *part = (shoal_part){.mechanism = mechanism,
                         .domain = SHOAL_DOMAIN_CLOSED,
                         .eps_micro = wish->eps_micro,
                         .k = 1,
                         .size = wish->size};
    return true;
}

#endif
