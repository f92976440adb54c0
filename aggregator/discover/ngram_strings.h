// SPDX-License-Identifier: Apache-2.0
// Tests a very large number of candidate strings by RAPPOR bit counts (fanti-2016 section 4.2).
// Pure.
//
// RAPPOR's decoder (rappor_decode.h) models all candidates at once. With millions of them it would
// be slow, and wrong as well, because the best of so many candidates would fit noise. So the
// decoder gets few candidates: those that passed so far, and the AGG_STRINGS_STRONGEST of the
// others. The strongest are those whose bits' mean stands out most after the passed ones are
// subtracted. Candidates that pass join the first group until no new one passes.
//
// The last decoding has the passed candidates alone; its counts and errors are the result.
// Bonferroni's rule is applied once more among all candidates, however few were decoded.
#ifndef NGRAM_STRINGS_H
#define NGRAM_STRINGS_H

#include "agg_error.h"
#include "estimator.h"
#include "mechanism.h"
#include "sketch.h"

#define AGG_STRINGS_STRONGEST 8u
#define AGG_STRINGS_MAX ((size_t)1000) // strings found, at most

typedef struct agg_string_found {
    size_t candidate; // index in items
    agg_count count;
} agg_string_found;

typedef struct agg_strings_found {
    size_t n, cap;
    agg_string_found *rows; // by ascending candidate
    unsigned rounds;
    double least; // score that Bonferroni's rule requires
} agg_strings_found;

// Tests the candidates.
//   found: written; release also on error
//   part, sketch: rappor over open strings, of n reports
//   items: n_items, each once
//   alpha: probability of any false row
// Cost: n_items * cohorts * hashes hashes and one decoding a round. There is one round for every
// AGG_STRINGS_STRONGEST found and one more.
// Memory: 4 bytes a candidate.
agg_err agg_ngram_strings_test(agg_strings_found *found, agg_error *error, const shoal_part *part,
                               const agg_sketch *sketch, uint64_t n, const uint64_t *items,
                               size_t n_items, double alpha, unsigned n_threads) SHOAL_MUST_CHECK;
void agg_strings_found_release(agg_strings_found *found);

#endif
