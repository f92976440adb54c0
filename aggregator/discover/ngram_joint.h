// SPDX-License-Identifier: Apache-2.0
// The joint distribution of two variables, each seen through noise, by expectation and maximization
// (fanti-2016 sections 3.1 and 3.2). Pure: it is given the likelihood of every report under every
// category and knows nothing of how noise was made.
//
// The log-likelihood is concave in the cells, so that any start inside leads to its maximum. Steps
// are lengthened while that helps (Salakhutdinov and Roweis 2003) and end when one gains less than
// AGG_JOINT_GAIN of log-likelihood, or after AGG_JOINT_STEPS; a step that loses is taken back and
// made at its ordinary length.
//
// EM keeps cells at zero or above, so that its shares cannot say how much the reports speak against
// a cell. What is given beside them does: with s the likelihood of a report, a and b its rows, the
// move that leaves both margins as they are has score G and information I,
//
//     d = (a_u - a)(b_v - b) / s,     G = sum d,     I = sum d^2,     share = p_uv + c G / I, error
//     = c / sqrt(I),     c = (1 - p_u)(1 - p_v),
//
// a and b the margins' mean of the row. One Newton step, unbiased where it leads below zero too.
#ifndef NGRAM_JOINT_H
#define NGRAM_JOINT_H

#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"

#define AGG_JOINT_GAIN 0.001 // of log-likelihood
#define AGG_JOINT_STEPS 200u

typedef struct agg_joint_reports {
    size_t n;           // rows
    uint32_t n_a, n_b;  // categories, each at least 1
    const float *a, *b; // n * n_a and n * n_b: likelihood of a row's report in each category, up to
                        // a factor of the row
    const uint32_t *weights; // n: how often that report came
} agg_joint_reports;

typedef struct agg_joint_cell {
    double em;    // share by EM: >= 0, all of them sum to 1
    double share; // unbounded; see above
    double error; // of `share`; infinite where the reports say nothing of the cell
} agg_joint_cell;

typedef struct agg_joint_summary {
    double log_likelihood; // of the shares by EM, up to the rows' factors
    unsigned steps;
    int has_converged;
} agg_joint_summary;

// Estimates.
//   cells: n_a * n_b, row a by row; written. Where there is no report, every em is alike and every
//   error infinite summary: may be NULL
// Cost: 4 n n_a n_b multiplications a step.
agg_err agg_ngram_joint(agg_joint_cell *cells, agg_joint_summary *summary, agg_error *error,
                        const agg_joint_reports *reports) SHOAL_MUST_CHECK;

#endif
