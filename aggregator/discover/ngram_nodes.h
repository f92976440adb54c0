// SPDX-License-Identifier: Apache-2.0
// Finds the n-grams that stand out at each position (fanti-2016 section 4.1, steps 1 to 3) and
// makes a model of a report from them. Pure.
//
// The candidates of a position are all n-grams of the recipe's alphabet. Where a string can end,
// shorter ones with padding behind them are added. RAPPOR's decoder (rappor_decode.h) counts them
// in the position's reports, whichever part these came in. An n-gram is significant when noise
// alone would pass its test for less than one candidate of the position. An n-gram that passes by
// accident costs work, but the test of whole strings rejects it.
//
// The remaining n-grams are one category, "others". Its bits are set as often as the position's
// reports say (equation of section 3.2).
#ifndef NGRAM_NODES_H
#define NGRAM_NODES_H

#include "accumulator.h"
#include "agg_error.h"
#include "ngram_clique.h"

#define AGG_NGRAM_NODES_MAX (AGG_CLIQUE_NODES_MAX - 1) // significant n-grams of one position
#define AGG_NGRAM_BYTES_MAX 4u
#define AGG_NGRAM_ENTRIES_MAX ((size_t)1 << 25) // candidates * cohorts * hashes of one decoding

typedef struct agg_ngram_nodes {
    uint32_t n;
    uint8_t grams[AGG_NGRAM_NODES_MAX][AGG_NGRAM_BYTES_MAX]; // by falling score
    double shares[AGG_NGRAM_NODES_MAX];                      // shares of the position's reports
    uint64_t reports;                                        // reports of the position
    size_t n_candidates, n_significant; // n_significant may be above n: the weakest are left out
    uint32_t *bits; // (node * cohorts + cohort) * hashes + i: a bit that the node sets; each once,
                    // then UINT32_MAX
    float *other_set,
        *other_base; // log-likelihoods of "others" relative to a node without bits: of a cohort's
                     // bit when it is set, and of a report with no bit set
} agg_ngram_nodes;

// Finds the nodes of a position.
//   acc: of this recipe, a rappor-ngram
// Returns: AGG_ERR_USAGE, with the numbers, when the alphabet has more n-grams than one decoding
// can take.
agg_err agg_ngram_nodes_find(agg_ngram_nodes *nodes, agg_error *error, const shoal_recipe *recipe,
                             const agg_accumulator *acc, uint32_t position) SHOAL_MUST_CHECK;
void agg_ngram_nodes_release(agg_ngram_nodes *nodes);

// Writes the likelihood of one part of a record under each node and, last, under "others".
// Likelihoods are scaled so that the largest is 1.
//   likelihoods: nodes->n + 1
//   record: of the part, whose row is of the nodes' position
void agg_ngram_likelihoods(float *likelihoods, const agg_ngram_nodes *nodes,
                           const shoal_recipe *recipe, const uint8_t *record);

// Returns: the number of candidates of a position; SIZE_MAX if it overflows.
size_t agg_ngram_candidates(const shoal_recipe *recipe, uint32_t position);

#endif
