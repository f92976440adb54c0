// SPDX-License-Identifier: Apache-2.0
// Are two variables independent? Wald's test on an unconstrained linear estimate, and the paper's
// on the EM estimate (fanti-2016 section 3.4). Pure.
//
// The linear form. Every report gets a score for each category of a variable,
//
//     s_c = likelihood_c / sum over categories of (pi * likelihood),     g = M^-1 s,     M_cd =
//     E(s_c | category d)
//
// with any reference shares pi; those of the estimate are the most powerful. Whatever pi is, g is
// linear in the distribution and unbiased: E(g_c | d) is 1 where c = d and 0 elsewhere. (Of a
// mechanism with counted support this is its debiased support count, of RAPPOR's bits their
// weighted least squares; likelihood rows are sufficient, nothing is lost.) D = mean of (g - mean
// g)(h - mean h)' estimates p_ij - p_i p_j without bias and without a boundary. If the variables
// are independent every pairing of the g with the h is equally likely, so that D has mean 0 and
// covariance S_g x S_h / (N - 1) exactly, S the two covariances of the scores over all reports, and
//
//     T = (N - 1) vec(D)' (S_g^- x S_h^-) vec(D)     is chi-square with rank(S_g) rank(S_h) degrees
//     of freedom,
//
// (m-1)(n-1) where every category can be told from the others. T is the same for s and t in place
// of g and h, so that M is not needed. No assumption beside reports of different devices being
// independent and variables drawing their rows and coins independently.
//
// The paper's form, T = (p - mu)' Sigma^- (p - mu) with mu the product of the estimate's marginals,
// is conservative where estimates are cut at 0 (6 x 6, N = 10,000, epsilon 1.5: type I error 0.0005
// where 0.05 is asked for) and too eager with little noise and rare categories (epsilon 6: 0.08):
// docs/joint-study.md.
#ifndef JOINT_WALD_H
#define JOINT_WALD_H

#include "joint_covariance.h"

typedef struct agg_joint_wald {
    double statistic;
    size_t df;      // degrees of freedom; 0 where there is nothing to test
    double p_value; // NaN where df is 0
    size_t rank_first,
        rank_second; // of the scores' covariances: categories less one, or fewer where some cannot
                     // be told apart
} agg_joint_wald;

// Tests two variables by the linear form. The data may have more of them; the pairs of several
// variables are several tests.
//   p: n_cells shares, the reference: the joint estimate, or any other table such as the uniform
//   one first, second: two different variables
// Returns: AGG_ERR_MEMORY; SHOAL_ERR_RANGE with fewer than 2 reports.
// Cost: one multiply-add a tuple and category of both, one a pair of categories and run of tuples
// with one row of `first`.
agg_err agg_joint_wald_linear(agg_joint_wald *wald, agg_error *error, const agg_joint_data *data,
                              const double *p, uint32_t first, uint32_t second) SHOAL_MUST_CHECK;

// Tests them by the paper's form (equation 1), of the covariance's own estimate. df is (m-1)(n-1),
// or the rank of Sigma where that is less; the ranks are the categories less one. Cost: that of
// inverting a matrix of the m n cells.
agg_err agg_joint_wald_em(agg_joint_wald *wald, agg_error *error,
                          const agg_joint_covariance *covariance, uint32_t first,
                          uint32_t second) SHOAL_MUST_CHECK;

#endif
