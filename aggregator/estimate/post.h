// SPDX-License-Identifier: Apache-2.0
// Post-processing of counts, by name: what makes raw estimates look as counts should, and what that
// does to their bias.
//
// Raw estimates are unbiased and may be negative; each rule below trades that for something. A rule
// is applied to the whole dictionary, before any row is left out, and never silently: results name
// it, say its note and keep the raw count. Standard errors and intervals stay those of the raw
// counts. With x_i the raw counts and s_i their standard errors:
//
//     clip       max(0, x_i). Bias: upwards, by s_i phi(f/s_i) - f Phi(-f/s_i) for a true count f:
//     0.4 s_i at f = 0, under 0.01 s_i
//                from f = 2 s_i on. Sums over many rare values are far too high.
//     norm-sub   the closest point (least squares) to x of { y >= 0, sum y = total }: y_i = max(0,
//     x_i - t), one t for all.
//                Bias: upwards at 0, downwards by t for frequent values; the biases add up to 0
//                when the total is right. Right only where the dictionary is the whole domain: else
//                the reports of other values are shared out among the listed. Source: Wang,
//                Lopuhaa-Zwakenberg, Li, Skoric, Li, "Locally Differentially Private Frequency
//                Estimation with Consistency" (NDSS 2020), Norm-Sub, which they show to be the
//                solution of constrained least squares.
//     base-cut   x_i where the row is detected (stands out of the noise of a count of zero, under
//     the rule for many tests at once), else 0.
//                Bias: downwards, by nearly f itself where f is well below the detection threshold
//                T, by T/2 - 0.4 s_i at T; none far above. Source: the same paper, Base-Cut.
//     total      x_i + (total - sum x) s_i^2 / sum s^2: the orthogonal projection on { sum y =
//     total } in the metric of the
//                variances; the rows move by their share of the noise. Unbiased when the total is
//                right, with less variance: s_i^2 - s_i^4 / sum s^2. A wrong total is shared out as
//                bias. Counts stay negative where they were. Source: generalized least squares
//                under one linear constraint; with equal variances, Norm of the same paper.
//
// Pure: arrays in, arrays out.
#ifndef POST_H
#define POST_H

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
    double total; // norm-sub and total: what the counts are to add up to, reports
} agg_post;

#define AGG_POST_NOTE_MAX 320 // bytes of a note, with its NUL

// Applies a rule to all n counts.
//   counts: n raw counts, finite; replaced
//   stderrs: n standard errors, not negative
//   is_detected: n flags
// Returns: AGG_ERR_MEMORY (norm-sub sorts a copy; counts are as they were).
// Cost: O(n), norm-sub O(n log n).
agg_err agg_post_apply(double *counts, agg_error *error, const agg_post *post,
                       const double *stderrs, const uint8_t *is_detected,
                       size_t n) SHOAL_MUST_CHECK;

// Returns: "none", "clip", "norm-sub", "base-cut" or "total".
const char *agg_post_name(agg_post_rule rule);

// Writes the sentence that goes with a result: what the rule did, and to the bias.
void agg_post_note(char note[AGG_POST_NOTE_MAX], const agg_post *post);

#endif
