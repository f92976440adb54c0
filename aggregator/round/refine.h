// SPDX-License-Identifier: Apache-2.0
// The next boundaries of a number: finer buckets where this round's counts are large, coarser ones
// where they are small. Pure, and exact in the boundaries.
//
// `share` is the number of reports that a bucket should hold. A bucket between the ends with count
// c is cut into round(c / share) equal pieces, 1 to 16. Neighbours that hold less than half a share
// together are joined, unless exactly one of them is zero or one is more than 16 times as wide as
// the other. A count that cannot be told from zero counts as zero. The open ends, below the first
// boundary and from the last one on, stay. The share is an equal part of all reports between the
// ends, or as much more as is needed to stay within the number of buckets asked for.
#ifndef REFINE_H
#define REFINE_H

#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"
#include "estimator.h"

#define AGG_REFINE_LEAST 4u  // buckets: both ends, and two between them
#define AGG_REFINE_PIECES 16 // of one bucket, at most

typedef struct agg_refined {
    uint32_t n;             // boundaries
    int64_t boundaries[64]; // rising; the first and the last are unchanged
    double share;           // reports that a bucket between the ends should hold
    double least;           // least score that is told from zero, in standard errors
    size_t n_zero;          // buckets between the ends that cannot be told from zero
} agg_refined;

// Refines boundaries.
//   boundaries: n of them, 2 to 64, rising; in any unit
//   counts: of the n + 1 buckets, both ends included
//   fdr: in (0, 1), of the rule that tells a count from zero: AGG_BH of multiple.h over the buckets
//     between the ends
//   target: the most buckets, both ends included, AGG_REFINE_LEAST to 65
// Returns: SHOAL_ERR_RANGE if every count between the ends is zero, or if there are fewer than 2
// boundaries.
agg_err agg_refine(agg_refined *refined, agg_error *error, const int64_t *boundaries, uint32_t n,
                   const agg_count *counts, double fdr, uint32_t target) SHOAL_MUST_CHECK;

#endif
