// SPDX-License-Identifier: Apache-2.0
// Finds unlisted strings in accumulators. This header has the options that every decoder takes and
// the result that every decoder returns. Pure: it reads no file and no clock, and the result does
// not depend on the number of threads.
//
// A row is a string whose count stands out from the noise of a string that nobody sent. The count
// comes from an oracle that did not choose the string. `fdr` is the false-discovery rate behind
// every threshold: the expected share of the rows that nobody sent is at most `fdr`. For that
// reason `known` strings are tested separately: strings that stand out anyway would let more of the
// others pass. rappor-ngram tests all strings together, because it bounds the probability of any
// false row, and removing rows afterwards cannot raise that.
//
// All of the data comes from reports, so values are hostile text. Every decoder bounds its work
// whatever the reports hold, and `cuts` names what it left out for that.
#ifndef DISCOVER_H
#define DISCOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "accumulator.h"
#include "agg_error.h"
#include "alarms.h"
#include "guarantee.h"
#include "left_out.h"
#include "recipe_json.h"
#include "selection.h"
#include "text_list.h"

#define AGG_FOUND_HOW_MAX 96u
#define AGG_DISCOVERY_NOTES_MAX 16u
#define AGG_DISCOVERY_NOTE_MAX 200u

typedef struct agg_discover_options {
    double confidence;     // level of the intervals, in (0, 1); 0 means 0.95
    double fdr;            // in (0, 1); 0 means 0.05
    double threshold;      // T: least count of rows and of the steps that lead to them; 0: none
    size_t top;            // rows to keep; 0 keeps all
    const agg_list *known; // strings that are left out of the rows; may be NULL
    unsigned n_threads;    // 0 means 1
    agg_release release;   // for the notes on guarantees; zeros: no central figure is noted
} agg_discover_options;

typedef struct agg_found {
    agg_text value;           // in the discovery's pool; valid UTF-8 without control characters
    double count, stderr_;    // reports of the value, scaled to all `n`; unbiased
    double low, high;         // normal interval at the confidence
    double fcr_low, fcr_high; // the same for rows that were selected (selection.h)
    agg_rank rank;            // among the rows, before `top` cuts them; 1 is the largest
    double score; // standard errors above the level of a string that nobody sent (agg_count)
    char how[AGG_FOUND_HOW_MAX]; // how it was found, NUL-terminated: "5 fragments", "round 7"
} agg_found;

#define AGG_DISCOVERY_OPEN_MAX 20u // open starts that are named
#define AGG_OPEN_TEXT_MAX 512u     // bytes of their texts

// A start that stands out, and behind which no round asked.
typedef struct agg_open_start {
    char text[AGG_OPEN_TEXT_MAX];
    size_t len;
    double count, stderr_; // scaled to all reports
} agg_open_start;

typedef struct agg_discovery {
    const agg_recipe *recipe; // recipe of the last round
    uint64_t n;               // reports of all rounds
    double confidence, fdr, threshold;
    size_t n_rows, n_known, n_withheld; // rows; found but known; found but below release.threshold
    double found_from;   // share of the reports that an empty discovery says is found; 0: not said
    agg_found *rows;     // by falling count, then value
    agg_alarms alarms;   // of all rounds; counts of the strings are not tested
    size_t n_candidates; // strings that were tested by the last oracle
    agg_selection selection; // the rows among the candidates
    uint32_t reach;          // length of the longest string that could be found
    bool is_in_bytes;        // of the reach: bytes, else characters
    size_t n_open;           // starts of a trie's last round that were left open
    agg_open_start open[AGG_DISCOVERY_OPEN_MAX]; // the strongest of them
    agg_left_out left_out; // of a trie: reports that name no word of the alphabet
    uint32_t n_notes, n_cuts;
    char notes[AGG_DISCOVERY_NOTES_MAX]
              [AGG_DISCOVERY_NOTE_MAX]; // the steps of the decoding, for people
    char cuts[AGG_DISCOVERY_NOTES_MAX]
             [AGG_DISCOVERY_NOTE_MAX]; // cuts that keep the work bounded; usually empty
    char *pool;                        // the bytes of the values
    size_t pool_len, pool_cap, rows_cap;
} agg_discovery;

// A round: its recipe and the accumulator of its reports. sfp and rappor-ngram have one round.
typedef struct agg_discover_round {
    const agg_recipe *recipe;
    const agg_accumulator *acc;
} agg_discover_round;

// Decodes by the recipe's mechanism.
//   rounds: of one analysis, in order
//   n_rounds: 1, or more for a trie
// Returns: AGG_ERR_COHORT with exit code 3, and nothing else, when a round has fewer reports than
// its recipe's minimum cohort; RECIPE_HASH; AGG_ERR_USAGE for a mechanism that discovers nothing,
// and for rounds that do not follow each other.
// Privacy: post-processing of private records.
agg_err agg_discover_run(agg_discovery *discovery, agg_error *error,
                         const agg_discover_round *rounds, size_t n_rounds,
                         const agg_discover_options *options) SHOAL_MUST_CHECK;
void agg_discovery_release(agg_discovery *discovery);

// Returns: whether the recipe's mechanism finds strings that nobody listed.
bool agg_discover_finds(const agg_recipe *recipe);

// Returns: whether it finds them in several rounds, each with a recipe of its own.
// Returns: whether `fdr` bounds the chance of any false row; else the expected share of false rows.
bool agg_discover_bounds_any(const agg_recipe *recipe);

bool agg_discover_takes_rounds(const agg_recipe *recipe);

// Returns: the peak memory of agg_discover_run in bytes, beside the accumulators. For rappor-ngram
// it is an upper bound, since the memory depends on the number of strings found.
//   recipe: of one round
//   accumulator: bytes of its accumulator
uint64_t agg_discover_memory(const agg_recipe *recipe, uint64_t accumulator, unsigned n_threads);

#endif
