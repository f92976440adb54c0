// SPDX-License-Identifier: Apache-2.0
// Scores a support against the noise that the sketch itself shows, rather than against the noise of
// honest devices. Private to discover/.
//
// The support of a string that nobody sent has the mean of all cells. Over a whole domain that is
// exact, since every hash row is balanced. For honest reports the mean is n times the probability
// of a set bit, within a hundredth of the noise. Records with more bits than a device sets raise
// all cells, and would otherwise make every string stand out. The binomial part of the spread
// follows the same density. In local hashing a report has one answer, so its mean is n/g whoever
// sends.
#ifndef SFP_NOISE_H
#define SFP_NOISE_H

#include "estimator.h"
#include "support_score.h"

typedef struct agg_sfp_noise {
    double n, mean, spread; // mean and spread of a support; see agg_support_score
    double scale, offset;   // count = scale * support + offset
    double null_error;      // standard error of the count of a string that nobody sent
    double excess;          // the amount by which the counts of all strings are too high
} agg_sfp_noise;

// Computes the noise of a sketch.
//   n: records in the sketch, 1 or more
agg_sfp_noise agg_sfp_noise_of(const shoal_part *part, const agg_sketch *sketch, uint64_t n);

static inline double agg_sfp_noise_score(const agg_sfp_noise *noise, double support)
{
    return agg_support_score(support, noise->n, noise->mean, noise->spread);
}

#endif
