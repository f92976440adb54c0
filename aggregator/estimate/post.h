// SPDX-License-Identifier: Apache-2.0
// Post-processing of counts by named rules, and the bias that each rule causes. Pure: arrays in,
// arrays out.
//
// Raw estimates are unbiased and may be negative; each rule trades that for another property. A
// rule is applied to the whole dictionary, before any row is left out. Results name the rule, print
// its note and keep the raw count. Standard errors and intervals stay those of the raw counts. Let
// x_i be the raw counts and s_i their standard errors.
//
// clip: max(0, x_i).
//   Bias: upwards by s_i phi(f/s_i) - f Phi(-f/s_i) for a true count f. That is 0.4 s_i at f = 0,
//   and less than 0.01 s_i from f = 2 s_i on. Sums over many rare values are far too high.
//
// norm-sub: y_i = max(0, x_i - t) with one t for all rows, the closest point to x (least
//   squares) in { y >= 0, sum y = total }.
//   Bias: upwards at 0, and downwards by t for frequent values. The biases sum to 0 if the total is
//   right. The rule needs a dictionary of the whole domain; else it distributes the reports of
//   other values among the listed ones. Source: Wang, Lopuhaa-Zwakenberg, Li, Skoric, Li, "Locally
//   Differentially Private Frequency Estimation with Consistency" (NDSS 2020), Norm-Sub, which they
//   show to be the solution of constrained least squares.
//
// base-cut: x_i if the row is detected (multiple.h), else 0.
//   Bias: downwards, by nearly f if f is well below the detection threshold T, and by T/2 - 0.4 s_i
//   at T; none far above T.
//   Source: the same paper, Base-Cut.
//
// total: x_i + (total - sum x) s_i^2 / sum s^2, the orthogonal projection on { sum y = total }
//   in the metric of the variances. Negative counts may stay negative.
//   Bias: none if the total is right; the variance is then lower, s_i^2 - s_i^4 / sum s^2. The
//   error of a wrong total is distributed among the rows. Source: generalized least squares under
//   one linear constraint; with equal variances, Norm of the same paper.
#ifndef POST_H
#define POST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"

typedef enum agg_post_rule {
    AGG_POST_NONE = 0,
    AGG_POST_CLIP,
    AGG_POST_NORM_SUB,
    AGG_POST_BASE_CUT,
    AGG_POST_TOTAL
} agg_post_rule;

typedef struct agg_post {
    agg_post_rule rule;
    double total; // the sum of all counts, in reports, for norm-sub and total
} agg_post;

#define AGG_POST_NOTE_MAX 320 // bytes of a note with its NUL

// Applies a rule to all counts.
//   counts: n raw counts, finite; replaced on OK
//   stderrs: n standard errors, not negative
//   is_detected: n flags
// Returns: AGG_ERR_MEMORY.
// Cost: O(n), norm-sub O(n log n).
agg_err agg_post_apply(double *counts, agg_error *error, const agg_post *post,
                       const double *stderrs, const bool *is_detected, size_t n) SHOAL_MUST_CHECK;

// Returns: "none", "clip", "norm-sub", "base-cut" or "total".
const char *agg_post_name(agg_post_rule rule);

// Writes the sentence for a result: what the rule has done, and the bias that it causes.
void agg_post_note(char note[AGG_POST_NOTE_MAX], const agg_post *post);

#endif
