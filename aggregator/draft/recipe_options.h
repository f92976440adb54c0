// SPDX-License-Identifier: Apache-2.0
// The options of `shoal recipe new`, as typed on the command line.
#ifndef RECIPE_OPTIONS_H
#define RECIPE_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "recipe_parameters.h"

// Texts of options; NULL for an absent option.
typedef struct recipe_options {
    const char *id, *expires, *mechanism, *analysis, *stream, *value, *per_day, *values, *output;
    const char *encoding, *policy, *version, *cohort_minimum, *cohort_epsilon,
        *cohort_delta;                             // of a query
    const char *parameters[RECIPE_PARAMETERS_MAX]; // by the numbers of recipe_parameters.h
    const char *devices, *step;   // number of reporting devices; characters of a trie's first round
    const char *const *variables; // joint recipe: n_variables lines of recipe_joint.h
    size_t n_variables;
    const char *keep_days; // days for which records are kept
    const char *block_minimum, *block_tick;
    uint32_t today;             // the day of writing, in days since 1970-01-01 UTC
    const char *active, *pages; // share of windows with an event; "one" or "many" pages
} recipe_options;

// Returns: where the option of a parameter is, or NULL where there is no such parameter.
const char **recipe_option_of(recipe_options *options, const char *name);

// Returns: the text of a parameter's option, or NULL. There must be such a parameter.
const char *recipe_option(const recipe_options *options, const char *name);

#endif
