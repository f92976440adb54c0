// SPDX-License-Identifier: Apache-2.0
// The table of estimators, one a mechanism. Most of them give exact integer supports of items, and
// an affine debiasing with its variance. Pure.
#ifndef ESTIMATOR_H
#define ESTIMATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"
#include "mechanism.h"
#include "sketch.h"
#include "small_counts.h"

// The constants of a debiasing: count = scale * support + offset, in reports, and variance = base +
// slope * f + curve * f^2 with f the count clamped to [0, n].
typedef struct agg_debias {
    double scale, offset;
    double base, slope, curve;
    double pairs;   // of base: what hash collisions of pairs of reports add (shared_rows.h); else 0
    bool is_signed; // the support is a sum of signs, not a number of reports
} agg_debias;

// The estimate of one item.
typedef struct agg_count {
    double count;      // unbiased, may be negative; in reports, for a mean a fraction of its range
    double stderr_;    // standard error of the count
    double null_error; // standard error of the count if nobody holds the item
    double score;      // support_score.h: no more than standard normal if nobody holds the item
    double support;    // the sum of cells, where the estimator has `support`; else 0
} agg_count;

typedef struct agg_joint_marks agg_joint_marks; // joint_marks.h
struct agg_sum_law;                             // sum_law.h
struct agg_place_law;                           // place_law.h

// The estimator of a mechanism. It gives either `support` and `debias`, or `counts` if items are
// not all estimated alike.
typedef struct agg_estimator {
    uint32_t id;
    // Computes support[i], the sum of the cells that support items[i].
    agg_err (*support)(int64_t *support, agg_error *error, const shoal_part *part,
                       const agg_sketch *sketch, const uint64_t *items, size_t n_items,
                       unsigned n_threads);
    // Sets the constants that are not zero, for a sketch of n records. Cost: one pass over the
    // sketch.
    void (*debias)(agg_debias *debias, const shoal_part *part, const agg_sketch *sketch,
                   uint64_t n);
    // Computes counts[i] of items[i].
    agg_err (*counts)(agg_count *counts, agg_error *error, const shoal_part *part,
                      const agg_sketch *sketch, uint64_t n, const uint64_t *items, size_t n_items,
                      unsigned n_threads);
    // Returns: the bytes that `support` or `counts` takes at its peak. NULL if they are negligible.
    uint64_t (*memory)(const shoal_part *part, size_t n_items, unsigned n_threads);
    // The marks of its records, for joint analyses. NULL if its answers name no value.
    const agg_joint_marks *marks;
    // Sets the law of supports where `counts` counts them. NULL if it does not.
    // Returns: whether the supports of this part have such a law.
    bool (*support_law)(agg_support_law *law, const shoal_part *part, uint64_t n);
    // Sets the law of how many of c cells of a list one report supports, for sums over one field of
    // an event. NULL if cells are in blocks, or if the errors of cells depend on one another.
    void (*sum_law)(struct agg_sum_law *law, const shoal_part *part, double c);
    // Sets the probabilities of a supporting cell in the device's own block, and in another. NULL
    // if cells are not in blocks of rows.
    void (*block_coins)(double *p, double *q, const shoal_part *part);
    // Sets the law of its answers, which are places only, for distributions of numbers. NULL if
    // answers are no places, or are meant for a mean.
    void (*places)(struct agg_place_law *law, const shoal_part *part);
    // Returns: the sum over rows and cells of (Y_x - N_x/m)(Y_y - N_y/m), as shared_rows.h defines
    // it. If y is NULL, that of x with itself, less the expected part of each of its n reports with
    // itself. NULL for a mechanism without hash rows whose collisions add to counts.
    double (*pairs)(const shoal_part *a, const agg_sketch *x, uint64_t n, const shoal_part *b,
                    const agg_sketch *y);
    // Returns: whether a device gives the same permanent answers under both parts, which are of
    // this mechanism. NULL for a mechanism without permanent answers.
    bool (*same_answers)(const shoal_part *a, const shoal_part *b);
    // Returns: the least covariance of what two reports of one device add to a count if they share
    // its permanent answers, whatever its two values are; at most 0, in reports squared. NULL if it
    // is never below 0.
    double (*opposed)(const shoal_part *part);
} agg_estimator;

#define SHOAL_MECHANISM(id, stem, name) extern const agg_estimator agg_##stem##_estimator;
#include "mechanisms.def"
#undef SHOAL_MECHANISM

// Returns: the estimator of a mechanism id, or NULL.
const agg_estimator *agg_estimator_of(uint32_t mechanism);

// Estimates items with the estimator of the part's mechanism.
//   counts: n_items
//   n: reports in the sketch; in a recipe with several variables every part has all reports
agg_err agg_estimator_counts(agg_count *counts, agg_error *error, const shoal_part *part,
                             const agg_sketch *sketch, uint64_t n, const uint64_t *items,
                             size_t n_items, unsigned n_threads) SHOAL_MUST_CHECK;

// As agg_estimator_counts, and sets the law of a support.
//   law: p is 0 where counts have none of the form of small_counts.h
agg_err agg_estimator_counts_with_law(agg_count *counts, agg_support_law *law, agg_error *error,
                                      const shoal_part *part, const agg_sketch *sketch, uint64_t n,
                                      const uint64_t *items, size_t n_items,
                                      unsigned n_threads) SHOAL_MUST_CHECK;

// Returns: the bytes that agg_estimator_counts takes.
uint64_t agg_estimator_memory(const shoal_part *part, size_t n_items, unsigned n_threads);

#endif
