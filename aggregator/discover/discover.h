// SPDX-License-Identifier: Apache-2.0
// Finds strings that nobody listed in accumulators. This header has the options that every decoder
// takes and the result that every decoder returns. Pure: it reads no file and no clock, and the
// result does not depend on the number of threads.
//
// A row is a string whose count, by an oracle that did not choose it, stands out of the noise of a
// string that nobody sent. `fdr` is the false- discovery rate behind every threshold: of the rows,
// the expected share of strings that nobody sent is at most that. So `known` strings are tested
// apart: those that stand out anyway would let more of the others pass. (rappor-ngram bounds the
// chance of any false row, which leaving rows out afterwards cannot raise: it tests all together.)
// Everything came from reports: values are hostile text, and every decoder bounds its work whatever
// the reports hold and says in `cuts` what it left out for that.
#ifndef DISCOVER_H
#define DISCOVER_H

#include <stddef.h>
#include <stdint.h>

#include "accumulator.h"
#include "agg_error.h"
#include "recipe_json.h"
#include "text_list.h"

#define AGG_FOUND_HOW_MAX 96u
#define AGG_DISCOVERY_NOTES_MAX 16u
#define AGG_DISCOVERY_NOTE_MAX 200u

typedef struct agg_discover_options {
    double confidence; // of the intervals, in (0, 1); 0 means 0.95
    double fdr;        // in (0, 1); 0 means 0.05
    double threshold;  // T: rows and what leads to them need at least this count besides; 0: none
    size_t top;        // rows to keep; 0 keeps all
    const agg_list *known; // strings that are left out of the rows; may be NULL
    unsigned n_threads;    // 0 means 1
} agg_discover_options;

typedef struct agg_found {
    agg_text value;        // in the discovery's pool; valid UTF-8 without control characters
    double count, stderr_; // reports, of all `n`; unbiased
    double low, high;      // normal interval at the confidence
    double score;          // standard errors above what a string that nobody sent has (agg_count)
    char how[AGG_FOUND_HOW_MAX]; // how it was found, NUL-terminated: "5 fragments", "round 7"
} agg_found;

typedef struct agg_discovery {
    const agg_recipe *recipe; // of the last round where there are several
    uint64_t n;               // reports, of all rounds
    double confidence, fdr, threshold;
    size_t n_rows, n_known, n_withheld; // rows; found but known; found but below release.threshold
    agg_found *rows;                    // by falling count, then value
    size_t n_candidates;                // strings that were put to the last oracle
    uint32_t n_notes, n_cuts;
    char notes[AGG_DISCOVERY_NOTES_MAX]
              [AGG_DISCOVERY_NOTE_MAX]; // what was done, step by step, for people
    char cuts[AGG_DISCOVERY_NOTES_MAX]
             [AGG_DISCOVERY_NOTE_MAX]; // what was left out so that work stays bounded; none in the
                                       // ordinary
    char *pool;                        // of the values
    size_t pool_len, pool_cap, rows_cap;
} agg_discovery;

// A round: its recipe and what its reports came to. sfp and rappor-ngram have one.
typedef struct agg_discover_round {
    const agg_recipe *recipe;
    const agg_accumulator *acc;
} agg_discover_round;

// Decodes by the recipe's mechanism.
//   rounds: of one analysis, in order; n_rounds 1 but for trie
// Returns: AGG_ERR_COHORT with exit code 3, and nothing else, when a round has fewer reports than
// its recipe's minimum cohort;
//   RECIPE_HASH; AGG_ERR_USAGE for a mechanism that discovers nothing, and for rounds that do not
//   follow each other.
// Privacy: post-processing of private records.
agg_err agg_discover_run(agg_discovery *discovery, agg_error *error,
                         const agg_discover_round *rounds, size_t n_rounds,
                         const agg_discover_options *options) SHOAL_MUST_CHECK;
void agg_discovery_release(agg_discovery *discovery);

// Returns: the bytes that it takes at its peak, beside the accumulators. Of rappor-ngram a bound:
// how much is found decides.
//   recipe: of one round
//   accumulator: bytes of its accumulator
uint64_t agg_discover_memory(const agg_recipe *recipe, uint64_t accumulator, unsigned n_threads);

#endif
