// SPDX-License-Identifier: Apache-2.0
// The maximum-likelihood joint distribution of any number of variables, each seen through noise, by
// expectation maximization (EM; fanti-2016 section 3.1) with squared extrapolation (SQUAREM,
// Varadhan and Roland 2008, scheme S3). Pure.
//
// The log-likelihood l(p) = sum over tuples of count * log s, s = sum over cells of p * likelihood,
// is concave (Proposition 3.1). With
//
//     g_c = (1/n) sum over tuples of count * likelihood_c / s,     EM's map is p_c <- p_c g_c,
//     l(best) - l(p) <= n (max g_c - 1)
//
// so that `gap` below bounds the distance to the maximum, whatever rule stopped the iteration.
// An extrapolated point that loses likelihood is discarded: l never falls from one kept point to
// the next, and the fixed point is EM's own.
//
// Cost of one evaluation of the map for two variables of A and B categories: 2 B multiply-adds a
// tuple, and 2 A B for each row of the first variable. The variable with by far the fewest rows
// becomes the first (joint_order.h). Sums run over fixed pieces in a fixed order, so that results
// have the same bits for any number of threads.
#ifndef JOINT_EM_H
#define JOINT_EM_H

#include <stdbool.h>

#include "joint_data.h"

typedef struct agg_joint_em_options {
    double gain;   // stop when a step of EM or an extrapolated one gains less log-likelihood a
                   // report; 0 for never
    double change; // stop when EM's own step moves no cell by this much (google/rappor: 1e-6); 0
                   // for never
    uint32_t iterations_max; // evaluations of the map
    bool is_plain;           // do not extrapolate
    unsigned n_threads;
} agg_joint_em_options;

typedef struct agg_joint_em_result {
    double log_likelihood; // of all reports, up to a constant that depends on the reports alone
    double gap;            // log_likelihood is at most n * gap below its maximum
    uint32_t iterations;   // evaluations of the map
    bool has_converged;    // `gain` or `change` stopped the iteration
    bool is_identifiable;  // false if no report tells two categories of a variable apart: p is then
                           // one of many maxima
} agg_joint_em_result;

// Returns: gain 1e-10, change 0, 10,000 iterations, one thread.
agg_joint_em_options agg_joint_em_defaults(void);

// Estimates the table, beginning with the uniform one.
//   p: data->n_cells shares, at least 0, which sum to 1; written on OK. Without reports it is the
//   uniform table
// Returns: AGG_ERR_MEMORY; SHOAL_ERR_RANGE for data without a cell, and for options without a rule
// to stop.
// Cost: memory of at most 69 numbers a cell and 2 more a cell and thread; a copy of the data if
// another variable becomes the first.
agg_err agg_joint_em(double *p, agg_joint_em_result *result, agg_error *error,
                     const agg_joint_data *data,
                     const agg_joint_em_options *options) SHOAL_MUST_CHECK;

#endif
