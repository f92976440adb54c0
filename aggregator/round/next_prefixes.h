// SPDX-License-Identifier: Apache-2.0
// The prefixes of the next round: the sequences of tokens whose counts in this round are detected.
// Pure.
//
// A field of prefixes and tokens counts every prefix followed by every listed token. The frequent
// sequences among these become the next prefixes, one token longer. The false-discovery rule of
// multiple.h decides which are frequent, so that at most a share fdr of the kept sequences is
// expected to be nobody's. Three kinds of bucket lead nowhere and are neither tested nor kept:
// sequences that end, that continue with a token outside the list, or that begin with no prefix.
// A maximum number of prefixes is a cap; it is never filled up with noise, unlike in gboard-2024
// Algorithm 2. The next recipe publishes its prefixes, so the release threshold applies to them as
// to a row of a result.
//
// A device without a matching event answers with a random cell, and these answers raise every
// count. Bucket 0 of a field of tokens holds random answers only. A bucket holds at most (at two
// standard errors) the smallest of: the count of bucket 0, an equal part of all reports, and the
// most that the lowest tenth of the sequences allows. That smallest bound is subtracted from every
// count.
//
// Source: apple-2022 section 5 and Figure 4 (2-grams that begin with frequent 1-grams); gboard-2024
// Algorithm 2 (rounds on a trie).
#ifndef NEXT_PREFIXES_H
#define NEXT_PREFIXES_H

#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"
#include "estimator.h"
#include "recipe_json.h"

typedef struct agg_next_prefixes {
    size_t n_asked;    // sequences of a prefix and a listed token that were tested
    size_t n_frequent; // tested sequences above the threshold
    size_t n_withheld; // frequent sequences below release.threshold or over 256 bytes, never kept
    size_t n;          // kept sequences, the strongest of the rest
    agg_text *texts;   // "prefix token", sorted by bytes so that the order reveals no counts
    double random;     // reports subtracted from each count for random answers
    double least;      // least frequent score in standard errors; HUGE_VAL if none is frequent
    double least_count,
        kept_count; // smallest count of those kept, and the sum of all of theirs; reports
    char *pool;     // the texts' bytes
} agg_next_prefixes;

// Chooses the next prefixes from one field's counts.
//   counts: one for every bucket of the field, as agg_marginal writes them
//   n: number of reports
//   field: index of a field with tokens
//   fdr: in (0, 1)
//   most: the most sequences to keep, 1 or more
// Returns: OK with n = 0 if no sequence is frequent; SHOAL_ERR_RANGE for more sequences than a
// recipe can hold. Release `next` on OK only. Privacy: post-processing of private records; the
// caller checks the minimum cohort (agg_estimate_check).
agg_err agg_next_prefixes_choose(agg_next_prefixes *next, agg_error *error,
                                 const agg_recipe *recipe, uint32_t field, const agg_count *counts,
                                 uint64_t n, double fdr, size_t most) SHOAL_MUST_CHECK;
void agg_next_prefixes_release(agg_next_prefixes *next);

// Returns: the most bytes that choosing takes beside the counts.
uint64_t agg_next_prefixes_memory(const shoal_recipe *recipe, uint32_t field);

// Returns: how many prefixes of the field fit the largest domain if the other fields stay as they
// are.
size_t agg_next_prefixes_fit(const shoal_recipe *recipe, uint32_t field, size_t n_tokens);

#endif
