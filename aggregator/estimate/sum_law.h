// SPDX-License-Identifier: Apache-2.0
// The law of how many of several cells of a list one report supports, for the error of their sum
// (marginal.h). Mechanisms whose cells permit it give it in their agg_estimator. Private to
// estimate/.
#ifndef SUM_LAW_H
#define SUM_LAW_H

#include "mechanism.h"

// The mean and variance of a number of cells.
typedef struct agg_moments {
    double mean, variance;
} agg_moments;

typedef struct agg_sum_law {
    agg_moments in, out; // if the value of the report's device is in one of the cells, and if not
    double most;         // cells that one report can support
} agg_sum_law;

// Returns: the moments of one coin that supports a cell with probability p.
static inline agg_moments agg_coin_moments(double p)
{
    return (agg_moments){p, p * (1 - p)};
}

// Returns: the probability of the common side, 1 - threshold / 2^64, rounded once.
static inline double agg_common_side(const shoal_part *part)
{
    return (double)(0 - part->threshold) * 0x1p-64;
}

// Sets the law of c independent bits: p for the device's own bit, q for the others.
static inline void agg_sum_of_bits(agg_sum_law *law, double p, double q, double c)
{
    agg_moments own = agg_coin_moments(p), other = agg_coin_moments(q);
    law->out = (agg_moments){c * other.mean, c * other.variance};
    law->in = (agg_moments){law->out.mean + own.mean - other.mean,
                            law->out.variance + own.variance - other.variance};
    law->most = c;
}

#endif
