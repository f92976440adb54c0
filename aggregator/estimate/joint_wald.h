// SPDX-License-Identifier: Apache-2.0
// Tests whether two variables are independent: Wald's test on an unconstrained linear estimate, and
// the paper's test on the EM estimate (fanti-2016 section 3.4). Pure.
//
// The linear form. Every report has a score for each category of a variable,
//
//     s_c = likelihood_c / sum over categories of (pi * likelihood),
//     g = M^-1 s,     M_cd = E(s_c | category d)
//
// with any reference shares pi; those of the estimate give the most power. Whatever pi is, g is
// unbiased: E(g_c | d) is 1 if c = d, and 0 else. For a mechanism with counted support g is its
// debiased support count, for RAPPOR's bits their weighted least squares. Likelihood rows are
// sufficient, so that nothing is lost.
//
// D = mean of (g - mean g)(h - mean h)' estimates p_ij - p_i p_j without bias and without a
// boundary. If the variables are independent, every pairing of the g with the h is equally likely.
// Then D has mean 0 and covariance exactly S_g x S_h / (N - 1), with S the covariances of the
// scores over all reports, and
//
//     T = (N - 1) vec(D)' (S_g^- x S_h^-) vec(D)
//
// is chi-square with rank(S_g) rank(S_h) degrees of freedom: (m-1)(n-1) if the data tell all
// categories apart. T is the same with s and t in place of g and h, so that M is not needed.
//
// Assumption: reports of different devices are independent, and a device draws the rows and coins
// of its variables independently.
//
// The paper's form is T = (p - mu)' Sigma^- (p - mu), with mu the product of the estimate's
// marginals. It is conservative if estimates are cut at 0 (6 x 6, N = 10,000, epsilon 1.5: type I
// error 0.0005 at level 0.05). It rejects too often with little noise and rare categories (epsilon
// 6: 0.08). docs/joint-study.md has the figures.
#ifndef JOINT_WALD_H
#define JOINT_WALD_H

#include "joint_covariance.h"

typedef struct agg_joint_wald {
    double statistic;
    size_t df;      // degrees of freedom; 0 if there is nothing to test
    double p_value; // NaN if df is 0
    size_t rank_first,
        rank_second; // ranks of the scores' covariances: the categories less one, or fewer if the
                     // data do not tell some of them apart
} agg_joint_wald;

// Tests two variables by the linear form. The data may have more variables.
//   p: n_cells shares, the reference: the joint estimate, or another table such as the uniform one
//   first, second: two different variables
// Returns: AGG_ERR_MEMORY; SHOAL_ERR_RANGE with fewer than 2 reports.
// Cost: one multiply-add for each tuple and category of both variables, and one for each pair of
// categories and run of tuples with one row of `first`.
agg_err agg_joint_wald_linear(agg_joint_wald *wald, agg_error *error, const agg_joint_data *data,
                              const double *p, uint32_t first, uint32_t second) SHOAL_MUST_CHECK;

// Tests two variables by the paper's form (equation 1), at the covariance's own estimate. df is
// (m-1)(n-1), or the rank of Sigma if that is less; the ranks are the categories less one.
// Returns: AGG_ERR_MEMORY.
// Cost: that of inverting a matrix of the m n cells.
agg_err agg_joint_wald_em(agg_joint_wald *wald, agg_error *error,
                          const agg_joint_covariance *covariance, uint32_t first,
                          uint32_t second) SHOAL_MUST_CHECK;

#endif
