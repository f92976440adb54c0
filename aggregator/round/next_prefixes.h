// SPDX-License-Identifier: Apache-2.0
// Which sequences of tokens the next round begins with: those that this round's counts tell from
// nothing. Pure.
//
// A field of prefixes and tokens has counted every prefix with every listed token behind it. The
// frequent ones among these sequences are the next round's prefixes, one token longer. "Frequent"
// is the false-discovery rule of multiple.h over exactly these sequences: among those that are kept
// the expected share of sequences that nobody reported is at most fdr. What ends, what goes on with
// a token that is not listed and what begins with no prefix leads nowhere, and is neither kept nor
// tested. A number of prefixes is a cap on what is frequent, not a quota to be filled with noise
// (gboard-2024 Algorithm 2 fills it). A sequence in the next recipe is published: the recipe's
// release threshold holds for it as for a row of a result. A device with nothing that matches
// answers with a random cell, so that every bucket holds its part of those answers, and nobody's
// sequence would stand out with it where they are many and the cells few. In bucket 0 of a field of
// tokens lie random answers alone: no event that matches does. So each holds, at two standard
// errors, at most what bucket 0 does; at most an equal part of all reports; and at most what the
// lowest tenth of the sequences lets all of them hold. The least of the three is taken off every
// count. Source: apple-2022 section 5 and Figure 4 (2-grams that begin with frequent 1-grams);
// gboard-2024 Algorithm 2 (rounds on a trie).
#ifndef NEXT_PREFIXES_H
#define NEXT_PREFIXES_H

#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"
#include "estimator.h"
#include "recipe_json.h"

typedef struct agg_next_prefixes {
    size_t n_asked;    // sequences of a prefix and a listed token
    size_t n_frequent; // of them above the threshold
    size_t n_withheld; // frequent, but below release.threshold or over 256 bytes: never kept
    size_t n;          // kept: the strongest of the rest
    agg_text *texts;   // "prefix token", by their bytes: their order says nothing of their counts
    double random;     // reports taken off each count, for random answers
    double least;      // least score that is frequent, in standard errors; HUGE_VAL where none is
    double least_count,
        kept_count; // smallest count of those kept, and the sum of all of theirs; reports
    char *pool;     // the texts' bytes
} agg_next_prefixes;

// Chooses from one field's counts.
//   counts: of every bucket of the field, as agg_marginal gives them
//   n: reports
//   field: index of a field with tokens
//   fdr: in (0, 1)
//   most: sequences to keep at most, 1 or more
// Returns: OK with n = 0 where none is frequent; SHOAL_ERR_RANGE for more than any recipe has room
// for. Release on OK only. Privacy: post-processing of private records; the minimum cohort is the
// caller's to check (agg_estimate_check).
agg_err agg_next_prefixes_choose(agg_next_prefixes *next, agg_error *error,
                                 const agg_recipe *recipe, uint32_t field, const agg_count *counts,
                                 uint64_t n, double fdr, size_t most) SHOAL_MUST_CHECK;
void agg_next_prefixes_release(agg_next_prefixes *next);

// Returns: the most bytes that choosing takes beside the counts.
uint64_t agg_next_prefixes_memory(const shoal_recipe *recipe, uint32_t field);

// Returns: how many prefixes of the field fit the largest domain, beside the other fields as they
// are.
size_t agg_next_prefixes_fit(const shoal_recipe *recipe, uint32_t field, size_t n_tokens);

#endif
