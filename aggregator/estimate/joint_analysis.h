// SPDX-License-Identifier: Apache-2.0
// The joint analysis from an accumulator to a result (fanti-2016 sections 3.1 to 3.4): the table of
// most likelihood (joint_em.h), how sure it is (joint_covariance.h), and the test of independence
// of each pair of variables (joint_wald.h). Pure: no files, no clock, no threads' order in a
// result.
#ifndef JOINT_ANALYSIS_H
#define JOINT_ANALYSIS_H

#include <stdbool.h>

#include "accumulator.h"
#include "joint_share.h"
#include "recipe_json.h"

#define AGG_JOINT_TABLE_MAX                                                                        \
    1024u // cells: the inverse of the information takes their number to the third

// The categories of one variable of the recipe.
typedef struct agg_joint_choice {
    uint32_t variable;      // of the recipe
    uint32_t n;             // categories that are named
    const agg_text *labels; // n
    const uint64_t *items;  // n
    const double *shares;   // their marginal estimates, of all reports; NULL: found here
    bool has_other;         // one category more, for whatever those are not
} agg_joint_choice;

typedef struct agg_joint_analysis_options {
    double confidence; // in (0, 1); 0 means 0.95
    bool is_em_wald;   // the paper's form of the test
    uint32_t given;    // of two variables: which choice the rates are given; 0 or 1
    unsigned n_threads;
} agg_joint_analysis_options;

typedef struct agg_joint_axis {
    agg_text name;
    uint32_t n;             // categories, the rest with them
    const agg_text *labels; // n, no two alike
    bool has_other;         // the last one stands for whatever the others are not
} agg_joint_axis;

// The test of two variables' independence.
typedef struct agg_joint_independence {
    uint32_t first, second; // axes
    double statistic;
    uint32_t df;
    double p_value; // NAN where there is nothing to test: one category
} agg_joint_independence;

typedef struct agg_joint_result {
    const agg_recipe *recipe;
    uint64_t n; // reports
    double confidence;
    uint32_t n_axes;
    agg_joint_axis axes[SHOAL_VARIABLES_MAX];
    size_t n_cells;
    const agg_joint_share *cells;                          // the last axis changes fastest
    const agg_joint_share *marginals[SHOAL_VARIABLES_MAX]; // axes[i].n each
    const agg_joint_share
        *rates; // of two axes: P(the other one's category | `given`'s), as cells; NULL otherwise
    uint32_t given; // the axis that rates are given
    uint32_t n_pairs;
    const agg_joint_independence *pairs; // of all pairs of axes
    bool is_em_wald;                     // the paper's form, which is conservative
    uint64_t iterations;
    bool converged;
    double log_likelihood; // a report
    size_t rank,
        n_free; // of the information matrix, and what it would be if the data said everything
    const struct agg_guarantee *guarantee; // NULL: nothing is said
} agg_joint_result;

typedef struct agg_joint_analysis {
    agg_joint_result result; // its guarantee is NULL, for the caller to set
    // what the result points to
    agg_text labels[SHOAL_VARIABLES_MAX][AGG_JOINT_TABLE_MAX + 1];
    agg_joint_share *cells, *rates, *marginals[SHOAL_VARIABLES_MAX];
    agg_joint_independence pairs[SHOAL_VARIABLES_MAX * (SHOAL_VARIABLES_MAX - 1) / 2];
} agg_joint_analysis;

// Analyses two or more variables of a joint recipe; those that are not chosen are summed over.
//   analysis: on OK its labels point to those of the choices, which outlive it; release it
// Returns: AGG_ERR_COHORT with exit code 3 when n is below recipe.cohort_minimum; RECIPE_HASH;
// AGG_ERR_USAGE for a recipe that is not joint, for more
//   than AGG_JOINT_TABLE_MAX cells and for fewer than two variables; SHOAL_ERR_ARGUMENT when the
//   records are gone; what the parts refuse.
// Privacy: post-processing of private records; the minimum cohort is enforced here, the release
// threshold by joint_print.h.
agg_err agg_joint_analyse(agg_joint_analysis *analysis, agg_error *error, const agg_recipe *recipe,
                          const agg_accumulator *acc, const agg_joint_choice *choices,
                          uint32_t n_choices,
                          const agg_joint_analysis_options *options) SHOAL_MUST_CHECK;
void agg_joint_analysis_release(agg_joint_analysis *analysis);

// Returns: the bytes that agg_joint_analyse takes at most, beside the accumulator. How much less it
// is hangs on how many records differ in what they say of the categories.
uint64_t agg_joint_memory(const agg_recipe *recipe, const agg_accumulator *acc,
                          const agg_joint_choice *choices, uint32_t n_choices);

// SHOAL_OK when the accumulator is of this joint recipe, keeps its records and is large enough to
// be shown; else as agg_joint_analyse.
agg_err agg_joint_check(agg_error *error, const agg_recipe *recipe,
                        const agg_accumulator *acc) SHOAL_MUST_CHECK;

#endif
