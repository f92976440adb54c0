// SPDX-License-Identifier: Apache-2.0
// The law of one report of longitudinal local hashing, of a device that nothing else is known of.
// Private to the aggregator; doubles.
#ifndef LOLOHA_LAW_H
#define LOLOHA_LAW_H

#include "loloha.h"

typedef struct agg_loloha_law {
    double truth, lie; // probability of the hashed answer, and of each other one, in any row
    double other;      // probability that a report supports a value that its device does not hold
} agg_loloha_law;

// Returns: the probabilities of one report. Two values share their answer in a share (N/g - 1)/(N -
// 1) of the rows, for each pair alike (loloha.h).
static inline agg_loloha_law agg_loloha_law_of(const shoal_part *part)
{
    double g = part->m, values = shoal_loloha_values(part);
    double f1 = (double)part->pqf_threshold[SHOAL_LOLOHA_PERMANENT] * 0x1p-64;
    double f2 = (double)part->threshold * 0x1p-64;
    // 2^64 - F is exact before it is rounded, so that the gap keeps its digits near epsilon 0.01.
    double gap = (double)(0 - part->pqf_threshold[SHOAL_LOLOHA_PERMANENT]) * 0x1p-64 *
                 (f2 > 0 ? (double)(0 - part->threshold) * 0x1p-64 : 1);
    double lie = (f1 + f2 - f1 * f2) / g, shared = (values / g - 1) / (values - 1);
    return (agg_loloha_law){lie + gap, lie, lie + gap * shared};
}

// Returns: the covariance of what two reports of one device add to the count of a value v that it
// never held, if the device moved from x to another value y meanwhile; in reports squared, the same
// for all fresh coins. y - v is no multiple of x - v, which is the least over all pairs of values.
//
// Let c be the share of the rows in which x shares the answer of v, and b that in which x and y do.
// Rows with one collision have no other one if the rows are few: b < c^2, so that the two counts go
// against one another. Where x and y share an answer they share its permanent coin, which goes the
// other way.
static inline double agg_loloha_moved_covariance(const shoal_part *part)
{
    double g = part->m, values = shoal_loloha_values(part);
    double c = (values / g - 1) / (values - 1), b = (values / (g * g) - 1) / (values - 1);
    double f1 = (double)part->pqf_threshold[SHOAL_LOLOHA_PERMANENT] * 0x1p-64;
    double kept = 1 - f1, truth = kept + f1 / g, lie = f1 / g;
    if (values <= g) return 0; // one row, without collisions
    double coins = b * truth * (1 - truth) + (c - b) * lie * (1 - lie);
    return (b - c * c + coins / (kept * kept)) / ((1 - c) * (1 - c));
}

#endif
