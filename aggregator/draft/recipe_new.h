// SPDX-License-Identifier: Apache-2.0
// A new recipe from command-line options, for every mechanism of the registry: what a mechanism
// needs in a domain is read off its descriptor, so that a new one needs nothing here.
#ifndef RECIPE_NEW_H
#define RECIPE_NEW_H

#include <stddef.h>

#include "agg_error.h"

// Options as they stand on the command line; NULL where not given.
typedef struct recipe_options {
    const char *id, *expires, *mechanism, *analysis, *stream, *value, *per_day, *values, *output;
    const char *encoding, *policy, *version, *cohort_minimum, *cohort_epsilon,
        *cohort_delta; // of a query
    const char *epsilon, *k, *m, *size, *g, *bits, *hashes, *cohorts, *p, *q, *f, *low,
        *high; // parameters
    const char *epsilon_fragment, *k_fragment, *m_fragment, *oracle, *length, *n, *grams, *alphabet,
        *contributions, *sampler, *depth, *max_prefixes, *passes; // and those of what finds words
    const char *users, *epochs, *samples, *smallest_group, *groups, *delta, *projection,
        *epsilon_estimate;        // of runs
    const char *devices, *step;   // how many will report; characters of a trie's first round
    const char *const *variables; // of a joint recipe: n_variables lines of recipe_joint.h
    size_t n_variables;
    const char *keep_days; // of its records
} recipe_options;

// Writes the recipe to options->output (NULL or "-": standard output), with a fresh random seed
// where the mechanism needs one. It is read back first, and refused as a recipe file would be.
agg_err recipe_new(agg_error *error, const recipe_options *options) SHOAL_MUST_CHECK;

#endif
