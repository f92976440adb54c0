// SPDX-License-Identifier: Apache-2.0
// The frequencies of values in a population that a plan assumes: Zipf's law, or the counts of a
// file. Pure.
#ifndef VALUE_LAW_H
#define VALUE_LAW_H

#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"

typedef struct agg_value_law {
    double n_values;
    double squares; // sum of squared shares: the probability that two devices hold the same value
    double zipf;    // the exponent, where `shares` is NULL
    double norm;    // sum over r of r^-zipf
    double *shares; // shares in falling order; NULL for Zipf's law
} agg_value_law;

// Returns: the law in which the value of rank r = 1 .. n_values has a share in proportion to
// r^-exponent. Exponent 0 gives equal shares.
//   n_values: at least 1
//   exponent: 0 .. 10
// Cost: the first 2^16 ranks are summed, the others by Euler and Maclaurin (relative error below
// 1e-12).
agg_value_law agg_value_law_zipf(double exponent, double n_values);

// Computes the shares of n counts whose sum is above zero. The caller releases the law.
agg_err agg_value_law_counts(agg_value_law *law, agg_error *error, const uint64_t *counts,
                             size_t n) SHOAL_MUST_CHECK;
void agg_value_law_release(agg_value_law *law);

// Returns: the share of the value of a rank from 0 on; 0 beyond the last rank.
double agg_value_law_share(const agg_value_law *law, double rank);

// Returns: how many values have at least this share.
double agg_value_law_above(const agg_value_law *law, double share);

#endif
