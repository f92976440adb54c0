// SPDX-License-Identifier: Apache-2.0
// Chooses the categories of one variable of a joint analysis: all values of its list, or the
// largest values of a dictionary that stand out from the noise.
#ifndef JOINT_CHOICE_H
#define JOINT_CHOICE_H

#include <stdbool.h>

#include "dictionary.h"
#include "estimate.h"
#include "joint_analysis.h"

#define AGG_JOINT_TOP 15u // categories of a variable, unless the command line says otherwise
#define AGG_JOINT_WHOLE_MAX                                                                        \
    64u // the largest list whose values are all taken, unless the command line says otherwise

// The options for one variable.
typedef struct agg_joint_wish {
    uint32_t variable;
    const char *file;             // its dictionary file; NULL: the recipe's own list
    const agg_dictionary *values; // its dictionary, in place of a file, which outlives the choice;
                                  // NULL or empty for none
    size_t top;                   // the most categories; 0: by the defaults
    bool no_other;
    bool with_none;    // adds "none of the list" where all of the list are categories
    double confidence; // of the test that a value is present; 0: the default
    unsigned n_threads;
    agg_log_fn log; // receives log lines; may be NULL
    void *log_context;
} agg_joint_wish;

// The choice, with the data that it points to.
typedef struct agg_joint_chosen {
    agg_joint_choice choice;
    agg_recipe *view;             // the variable as a recipe of its own
    agg_dictionary dictionary;    // unless the wish has one
    const agg_dictionary *values; // that one, or this
    agg_estimate estimate;
    agg_text *labels;
    uint64_t *items;
    double *shares;
} agg_joint_chosen;

// Makes the choice. It takes every entry of a dictionary of `top` lines or fewer, and every value
// of a list without a file and without `top`. Otherwise it takes the `top` largest values whose
// marginal count is detected (estimate.h). The rest is "Other" wherever there can be one.
//   categories: release it, on OK only; recipe and acc outlive it
// Returns: AGG_ERR_USAGE for a variable of any string without a file, and if none of its values
// stands out; errors of dictionaries and estimates.
agg_err agg_joint_chosen_make(agg_joint_chosen *categories, agg_error *error,
                              const agg_recipe *recipe, const agg_accumulator *acc,
                              const agg_joint_wish *wish) SHOAL_MUST_CHECK;
void agg_joint_chosen_release(agg_joint_chosen *categories);

#endif
