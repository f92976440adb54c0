// SPDX-License-Identifier: Apache-2.0
// What each mechanism's estimator gives to estimate.c: exact integer support of items, then an
// affine debiasing with its variance. Pure.
#ifndef ESTIMATOR_H
#define ESTIMATOR_H

#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"
#include "mechanism.h"
#include "sketch.h"

// count = scale * support + offset; variance = base + slope * f + curve * f^2, at f = the count
// clamped to [0, n].
typedef struct agg_debias {
    double scale, offset;
    double base, slope, curve;
    int is_signed; // the support is a sum of signs, not a number of reports
} agg_debias;

// One item's estimate.
typedef struct agg_count {
    double count;      // reports; unbiased, may be negative (a mean: its fraction of the range)
    double stderr_;    // its standard error
    double null_error; // the standard error that it would have if nobody held the item
    double score; // how far it stands out of that noise: no more than standard normal if nobody
                  // held the item
} agg_count;

typedef struct agg_joint_marks agg_joint_marks; // joint_marks.h
struct agg_sum_law;                             // sum_law.h

// A mechanism gives either `support` and `debias`, or `counts`, where items are not estimated one
// by one alike.
typedef struct agg_estimator {
    uint32_t id;
    // Writes support[i], the sum of the cells that support items[i].
    agg_err (*support)(int64_t *support, agg_error *error, const shoal_part *part,
                       const agg_sketch *sketch, const uint64_t *items, size_t n_items,
                       unsigned n_threads);
    // Writes the constants of a sketch of n records that are not zero. Cost: one pass over the
    // sketch.
    void (*debias)(agg_debias *debias, const shoal_part *part, const agg_sketch *sketch,
                   uint64_t n);
    // Writes counts[i] of items[i].
    agg_err (*counts)(agg_count *counts, agg_error *error, const shoal_part *part,
                      const agg_sketch *sketch, uint64_t n, const uint64_t *items, size_t n_items,
                      unsigned n_threads);
    // Returns: the bytes that `support` or `counts` takes while it runs. NULL: none to speak of.
    uint64_t (*memory)(const shoal_part *part, size_t n_items, unsigned n_threads);
    // What its records mark, for joint analyses. NULL: its answers name no value.
    const agg_joint_marks *marks;
    // What one report says of c cells of a list together, for sums over one field of an event.
    // NULL: its cells are in blocks, or the errors of cells depend on one another.
    void (*sum_law)(struct agg_sum_law *law, const shoal_part *part, double c);
    // Cells in blocks of rows: writes the probabilities of a supporting cell of the device's own
    // block and of another. NULL: there are none.
    void (*block_coins)(double *p, double *q, const shoal_part *part);
} agg_estimator;

#define SHOAL_MECHANISM(id, stem, name) extern const agg_estimator agg_##stem##_estimator;
#include "mechanisms.def"
#undef SHOAL_MECHANISM

// Returns: the estimator of a mechanism id, or NULL.
const agg_estimator *agg_estimator_of(uint32_t mechanism);

// Estimates items one way or the other.
//   n: reports in the sketch; a part of several variables has all of them
agg_err agg_estimator_counts(agg_count *counts, agg_error *error, const shoal_part *part,
                             const agg_sketch *sketch, uint64_t n, const uint64_t *items,
                             size_t n_items, unsigned n_threads) SHOAL_MUST_CHECK;

// Returns: the bytes that it takes.
uint64_t agg_estimator_memory(const shoal_part *part, size_t n_items, unsigned n_threads);

#endif
