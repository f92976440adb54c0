// SPDX-License-Identifier: Apache-2.0
// The joint analysis of several variables (fanti-2016 sections 3.1 to 3.4): the maximum-likelihood
// table (joint_em.h), its standard errors and intervals (joint_covariance.h), and the test of
// independence of each pair of variables (joint_wald.h). Pure: no files, no clock; the number of
// threads does not change a result.
//
// Where reports answer for windows (send.pick "uniform"), shares are of windows, and one without
// events counts as none of each variable's categories. The errors hold for a crowd whose windows
// are independent. The covariance is multiplied by the design effect of the slots of one window
// (window_picks.h), which bounds the variance of every linear statistic.
#ifndef JOINT_ANALYSIS_H
#define JOINT_ANALYSIS_H

#include <stdbool.h>

#include "accumulator.h"
#include "alarms.h"
#include "joint_share.h"
#include "recipe_json.h"

#define AGG_JOINT_TABLE_MAX                                                                        \
    1024u // cells; inverting the information takes time in the third power of their number

// The categories of one variable of the recipe.
typedef struct agg_joint_choice {
    uint32_t variable;      // of the recipe
    uint32_t n;             // named categories
    const agg_text *labels; // n
    const uint64_t *items;  // n
    const double *shares;   // n, their marginal shares of all reports; NULL to estimate them here
    bool has_other;         // one more category stands for all other values
} agg_joint_choice;

typedef struct agg_joint_analysis_options {
    double confidence; // in (0, 1); 0 means 0.95
    bool is_em_wald;   // use the paper's form of the test (joint_wald.h)
    uint32_t given;    // with two variables: the choice that the rates condition on, 0 or 1
    unsigned n_threads;
    const uint32_t *chain; // for each choice a category: the result has the chain of these
                           // (joint_chain.h); NULL: no chain
} agg_joint_analysis_options;

typedef struct agg_joint_axis {
    agg_text name;
    uint32_t n;             // categories, including the last one of has_other
    const agg_text *labels; // n, distinct
    bool has_other;         // the last category stands for all values that are not named
} agg_joint_axis;

// The result of a test of independence.
typedef struct agg_joint_independence {
    uint32_t first, second; // axes
    double statistic;
    uint32_t df;
    double p_value; // NAN if a variable has one category only
} agg_joint_independence;

typedef struct agg_joint_result {
    const agg_recipe *recipe;
    uint64_t n;              // reports
    agg_shards_about shards; // of the manifests that the accumulator counts
    double confidence;
    uint32_t n_axes;
    agg_joint_axis axes[SHOAL_VARIABLES_MAX];
    size_t n_cells;
    const agg_joint_share *cells;                          // n_cells; the last axis changes fastest
    const agg_joint_share *marginals[SHOAL_VARIABLES_MAX]; // axes[i].n each
    const agg_joint_share *rates; // with two axes: P(the other axis's category | the category of
                                  // `given`), in the order of cells; else NULL
    uint32_t given;               // the axis that the rates condition on
    // With a chain: its shares for each axis, and its rates for each axis but the last.
    agg_joint_share reached[SHOAL_VARIABLES_MAX], onward[SHOAL_VARIABLES_MAX], astray;
    uint32_t n_pairs;
    const agg_joint_independence *pairs; // all pairs of axes
    bool is_em_wald;                     // the tests have the paper's form, which is conservative
    uint64_t iterations;
    bool converged;
    double log_likelihood; // of one report, on average
    agg_alarms alarms;     // of all variables
    size_t rank, n_free;   // the rank of the information matrix, and the full rank
    double least; // share from which on a cell is shown: the recipe's release threshold, or more
                  // where that would withhold one cell alone, which the others tell
    const struct agg_guarantee *guarantee; // printed with the result (guarantee.h); may be NULL
} agg_joint_result;

typedef struct agg_joint_analysis {
    agg_joint_result result; // its guarantee is NULL, and the caller may set it
    // The members below are storage that the result points to.
    agg_text labels[SHOAL_VARIABLES_MAX][AGG_JOINT_TABLE_MAX + 1];
    agg_joint_share *cells, *rates, *marginals[SHOAL_VARIABLES_MAX];
    agg_joint_independence pairs[SHOAL_VARIABLES_MAX * (SHOAL_VARIABLES_MAX - 1) / 2];
} agg_joint_analysis;

// Analyses two or more variables of a joint recipe, and sums over the others.
//   analysis: points to the labels of the choices, which must outlive it; release it on OK
//   choices: n_choices, of different variables
// Returns: AGG_ERR_COHORT with exit code 3 if n is below recipe.cohort_minimum;
// SHOAL_ERR_RECIPE_HASH; AGG_ERR_USAGE for a recipe that is not joint, for more than
// AGG_JOINT_TABLE_MAX cells and for fewer than two variables; SHOAL_ERR_ARGUMENT if the accumulator
// no longer has its records; and the errors of the parts.
// Privacy: post-processing of private records. The minimum cohort is enforced here, the release
// threshold where the result is printed (joint_print.h).
agg_err agg_joint_analyse(agg_joint_analysis *analysis, agg_error *error, const agg_recipe *recipe,
                          const agg_accumulator *acc, const agg_joint_choice *choices,
                          uint32_t n_choices,
                          const agg_joint_analysis_options *options) SHOAL_MUST_CHECK;

void agg_joint_analysis_release(agg_joint_analysis *analysis);

// Returns: the bytes that agg_joint_analyse takes at most, not counting the accumulator. It takes
// less if many records have the same likelihoods.
uint64_t agg_joint_memory(const agg_recipe *recipe, const agg_accumulator *acc,
                          const agg_joint_choice *choices, uint32_t n_choices);

// Returns: SHOAL_OK if the accumulator is of this joint recipe, has its records, and reaches the
// minimum cohort; else as agg_joint_analyse.
agg_err agg_joint_may_run(agg_error *error, const agg_recipe *recipe,
                          const agg_accumulator *acc) SHOAL_MUST_CHECK;

#endif
