// SPDX-License-Identifier: Apache-2.0
// Finer buckets of a number where the counts are large, coarser ones where they are not: a round's
// counts give the next round's boundaries. Pure; exact in the boundaries.
//
// Of the buckets between the first and the last boundary, one whose count is c is cut into round(c
// / share) equal pieces, 1 to 16, where `share` is what a bucket should hold; neighbours that hold
// less than half a share together are joined, unless one of them alone is zero or one is more than
// 16 times as wide as the other. A count that cannot be told from zero is zero. The open ends,
// below the first boundary and from the last one on, stay. The share is their equal part of all
// that lies between the ends, or as much more as it takes to have no more buckets than were asked
// for.
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
    int64_t boundaries[64]; // rising; the first and the last are those of before
    double share;           // what a bucket between the ends should hold, reports
    double least;           // least score that is told from zero, in standard errors
    size_t n_zero;          // buckets between the ends that cannot be told from zero
} agg_refined;

// Refines.
//   boundaries: n of them, 2 to 64, rising; any unit
//   counts: of the n + 1 buckets, both ends included
//   fdr: of the rule that tells a count from zero (AGG_BH of multiple.h, over the buckets between
//   the ends), in (0, 1) target: buckets to have at most, both ends included, AGG_REFINE_LEAST to
//   65
// Returns: SHOAL_ERR_RANGE where nothing between the ends can be told from zero, or there are fewer
// than 2 boundaries.
agg_err agg_refine(agg_refined *refined, agg_error *error, const int64_t *boundaries, uint32_t n,
                   const agg_count *counts, double fdr, uint32_t target) SHOAL_MUST_CHECK;

#endif
