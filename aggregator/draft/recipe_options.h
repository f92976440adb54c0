// SPDX-License-Identifier: Apache-2.0
// The options of `shoal recipe new`, as typed on the command line.
#ifndef RECIPE_OPTIONS_H
#define RECIPE_OPTIONS_H

#include <stddef.h>

// Texts of options; NULL for an absent option.
typedef struct recipe_options {
    const char *id, *expires, *mechanism, *analysis, *stream, *value, *per_day, *values, *output;
    const char *encoding, *policy, *version, *cohort_minimum, *cohort_epsilon,
        *cohort_delta; // members of a query
    const char *epsilon, *k, *m, *size, *g, *bits, *hashes, *cohorts, *p, *q, *f, *low,
        *high; // parameters
    const char *epsilon_fragment, *k_fragment, *m_fragment, *oracle, *length, *n, *grams, *alphabet,
        *contributions, *sampler, *depth, *max_prefixes,
        *passes; // parameters of mechanisms that find words
    const char *users, *epochs, *samples, *smallest_group, *groups, *delta, *projection,
        *epsilon_estimate;        // members of a run
    const char *devices, *step;   // number of reporting devices; characters of a trie's first round
    const char *const *variables; // joint recipe: n_variables lines of recipe_joint.h
    size_t n_variables;
    const char *keep_days; // days for which records are kept
} recipe_options;

#endif
