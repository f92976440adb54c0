// SPDX-License-Identifier: Apache-2.0
// The joint distribution of two variables that are each seen through noise, by expectation and
// maximization (fanti-2016 sections 3.1 and 3.2). Pure: the input is the likelihood of every report
// under every category, so the mechanism does not matter here.
//
// The log-likelihood is concave in the cells, so any interior start leads to its maximum. Steps are
// lengthened while that helps (Salakhutdinov and Roweis 2003). They end when a step gains less than
// AGG_JOINT_GAIN of log-likelihood, or after AGG_JOINT_STEPS. A step that loses is undone and
// repeated at its ordinary length.
//
// EM keeps cells at zero or above, so its shares cannot show how strongly the reports speak against
// a cell. A second share shows it. Let s be the likelihood of a report, and a and b its rows. The
// move that leaves both margins unchanged has score G and information I,
//
//     d = (a_u - a)(b_v - b) / s,     G = sum d,     I = sum d^2,
//     share = p_uv + c G / I,     error = c / sqrt(I),     c = (1 - p_u)(1 - p_v),
//
// where a and b are the row's means under the margins. This is one Newton step, and it is unbiased
// because it may lead below zero.
#ifndef NGRAM_JOINT_H
#define NGRAM_JOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"

#define AGG_JOINT_GAIN 0.001 // least gain of log-likelihood
#define AGG_JOINT_STEPS 200u

typedef struct agg_joint_reports {
    size_t n;           // rows
    uint32_t n_a, n_b;  // categories, each at least 1
    const float *a, *b; // n * n_a and n * n_b: likelihood of a row's report in each category, up to
                        // a factor of the row
    const uint32_t *weights; // n: how often each report came
} agg_joint_reports;

typedef struct agg_joint_cell {
    double em;    // share by EM: >= 0, all of them sum to 1
    double share; // may be below 0 or above 1; see above
    double error; // standard error of `share`; infinite if the reports say nothing about the cell
} agg_joint_cell;

typedef struct agg_joint_summary {
    double log_likelihood; // under the shares by EM, up to the rows' factors
    unsigned steps;
    bool has_converged;
} agg_joint_summary;

// Estimates the joint distribution.
//   cells: n_a * n_b, in rows by a; written. Without any report all em are equal and all errors
//   infinite
//   summary: may be NULL
// Cost: 4 n n_a n_b multiplications a step.
agg_err agg_ngram_joint(agg_joint_cell *cells, agg_joint_summary *summary, agg_error *error,
                        const agg_joint_reports *reports) SHOAL_MUST_CHECK;

#endif
