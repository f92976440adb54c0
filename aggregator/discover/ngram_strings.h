// SPDX-License-Identifier: Apache-2.0
// Tests of very many candidate strings by RAPPOR bit counts (fanti-2016 section 4.2). Pure.
//
// RAPPOR's decoder (rappor_decode.h) models all candidates at once, which millions would make slow
// and, as the best of so much noise fits noise, wrong. So it is given few: those that passed so
// far, and the AGG_STRINGS_STRONGEST whose bits' mean stands furthest out of what is left when
// those are taken off. Whatever passes joins them, until nothing does. The last decoding is of
// those that passed alone, whose counts and errors are the result, and Bonferroni's rule among all
// candidates, however few were decoded, is asked once more.
#ifndef NGRAM_STRINGS_H
#define NGRAM_STRINGS_H

#include "agg_error.h"
#include "estimator.h"
#include "mechanism.h"
#include "sketch.h"

#define AGG_STRINGS_STRONGEST 8u
#define AGG_STRINGS_MAX ((size_t)1000) // found

typedef struct agg_string_found {
    size_t candidate; // index in items
    agg_count count;
} agg_string_found;

typedef struct agg_strings_found {
    size_t n, cap;
    agg_string_found *rows; // ascending candidates
    unsigned rounds;
    double least; // score that Bonferroni's rule asks for
} agg_strings_found;

// Tests.
//   found: written; release also on error
//   part, sketch: rappor over open strings, of n reports
//   items: n_items, each once
//   alpha: chance of any false row
// Cost: n_items * cohorts * hashes hashes and one decoding a round, of which there is one for every
// AGG_STRINGS_STRONGEST found and one more.
//   Memory: 4 bytes a candidate
agg_err agg_ngram_strings_test(agg_strings_found *found, agg_error *error, const shoal_part *part,
                               const agg_sketch *sketch, uint64_t n, const uint64_t *items,
                               size_t n_items, double alpha, unsigned n_threads) SHOAL_MUST_CHECK;
void agg_strings_found_release(agg_strings_found *found);

#endif
