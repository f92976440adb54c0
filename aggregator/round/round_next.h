// SPDX-License-Identifier: Apache-2.0
// shoal round next: from the accumulator of one round the recipe of the next.
#ifndef ROUND_NEXT_H
#define ROUND_NEXT_H

#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"

// As they are on the command line, read. NULL or 0 where not given.
typedef struct round_options {
    const char *recipe, *accumulator, *output;
    const char *field, *tokens, *id, *mechanism, *seed_hex, *expires;
    double fdr, cohort_epsilon;
    uint64_t max_prefixes, refine, version;
    uint64_t step;            // of a trie, as the two that follow
    double sample, threshold; // 0 where not given
    unsigned n_threads;
    uint64_t memory_limit; // 0: none
} round_options;

// Writes the next recipe to options->output (NULL or "-": standard output) and says what was kept.
// Of a trie that is complete, or whose devices have all been asked, it says so and writes nothing,
// which is no error. Returns: AGG_ERR_COHORT with exit code 3 below the minimum cohort;
// SHOAL_ERR_RANGE with exit code 1 where nothing stands out of the noise; AGG_ERR_USAGE for a
// recipe without such a field. Nothing is written then.
agg_err round_next(agg_error *error, const round_options *options) SHOAL_MUST_CHECK;

#endif
