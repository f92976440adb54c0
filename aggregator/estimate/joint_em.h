// SPDX-License-Identifier: Apache-2.0
// The joint distribution of any number of variables, each seen through noise: the maximum of the
// likelihood, by expectation and maximization (fanti-2016 section 3.1) with squared extrapolation
// (SQUAREM, Varadhan and Roland 2008, scheme S3). Pure.
//
// The log-likelihood l(p) = sum over tuples of count * log s, s = sum over cells of p * likelihood,
// is concave (Proposition 3.1). With
//
//     g_c = (1/n) sum over tuples of count * likelihood_c / s,     EM's map is p_c <- p_c g_c,
//     l(best) - l(p) <= n (max g_c - 1)
//
// so that the `gap` below is a bound on what is still missing, whatever rule stopped. Extrapolated
// points that lose likelihood are taken back: l never falls from one kept point to the next, and
// the fixed point is EM's own.
//
// Cost of one evaluation of the map, two variables of A and B categories: 2 B multiplications and
// additions a tuple and 2 A B for each row of the first variable, whose tuples share them; the
// variable of by far the fewest rows is made the first (joint_order.h). Sums are made over fixed
// pieces in a fixed order: results have the same bits for any number of threads.
#ifndef JOINT_EM_H
#define JOINT_EM_H

#include <stdbool.h>

#include "joint_data.h"

typedef struct agg_joint_em_options {
    double gain;   // stops when a step (one of EM's, or an extrapolated one) gains less
                   // log-likelihood a report; 0: never
    double change; // stops when EM's own step moves no cell by this much (google/rappor: 1e-6); 0:
                   // never
    uint32_t iterations_max; // evaluations of the map
    bool is_plain;           // EM without extrapolation
    unsigned n_threads;
} agg_joint_em_options;

typedef struct agg_joint_em_result {
    double log_likelihood; // of all reports, up to a factor of the reports alone
    double gap;            // a report: log_likelihood is at most n * gap below its maximum
    uint32_t iterations;   // evaluations of the map
    bool has_converged;    // a rule stopped it
    bool is_identifiable;  // 0 where two categories of a variable cannot be told apart: p is one of
                           // many maxima
} agg_joint_em_result;

// gain 1e-10, change 0, 10,000 iterations, one thread.
agg_joint_em_options agg_joint_em_defaults(void);

// Estimates from the uniform table on.
//   p: data->n_cells shares, at least 0, summing to 1; written on OK. Without a report it is the
//   uniform table
// Returns: AGG_ERR_MEMORY; SHOAL_ERR_RANGE for data without a cell or options without a rule.
// Memory: at most 64 + 5 numbers a cell, besides 2 a cell and thread; a copy of the data where
// another variable is made the first.
agg_err agg_joint_em(double *p, agg_joint_em_result *result, agg_error *error,
                     const agg_joint_data *data,
                     const agg_joint_em_options *options) SHOAL_MUST_CHECK;

#endif
