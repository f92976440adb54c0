// SPDX-License-Identifier: Apache-2.0
// `shoal round next`: the recipe of the next round from the accumulator of this one.
#ifndef ROUND_NEXT_H
#define ROUND_NEXT_H

#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"

// The options of the command line; NULL or 0 if they are not given.
typedef struct round_options {
    const char *recipe, *accumulator, *output;
    const char *field, *tokens, *id, *mechanism, *seed_hex, *expires;
    double fdr, cohort_epsilon;
    uint64_t max_prefixes, refine, version;
    uint64_t step; // of a trie, like sample and threshold
    double sample, threshold;
    unsigned n_threads;
    uint64_t memory_limit; // bytes; 0: no limit
} round_options;

// Writes the next recipe to options->output (NULL or "-": standard output) and logs what was kept.
// If a trie is complete, or all its devices have been asked, it logs that and writes nothing, which
// is no error.
// Returns: AGG_ERR_COHORT with exit code 3 below the minimum cohort; SHOAL_ERR_RANGE with exit code
// 1 if nothing is detected; AGG_ERR_USAGE for a recipe without such a field. On error no recipe is
// written.
agg_err round_next(agg_error *error, const round_options *options) SHOAL_MUST_CHECK;

#endif
