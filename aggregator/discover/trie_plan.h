// SPDX-License-Identifier: Apache-2.0
// Plans a trie: the number of rounds, the characters that each round adds, and the devices that
// answer it. gboard-2024 Algorithm 2 adds one character a round and asks as many devices each time.
// Pure.
//
// A step of t characters asks about |P| (X + X^2 + ... + X^t) cells at once. More cells make
// records larger, since a set has one in e^epsilon + 1 of them. They also raise the bar, as more
// can stand out by accident. Fewer rounds leave more devices for each, which reduces the noise. The
// model predicts the words found by every sequence of steps that keeps records below a bound.
// Devices are then moved between the rounds of the best sequence until no more words are found.
//
// The model: among n reports a word of share f is found with probability one half where f n (p - q)
// = z sqrt(n q (1 - q)) + z^2/6. The last term is for the skewness of few votes. z is the bar of
// false-discovery rate `fdr` among the round's words. Starts follow the same formula.
//
// The numbers of words of each length and of starts of each depth with such a share come from a
// reference population. It is English as spoken in films (PEERS: SUBTLEX, 47.6 million tokens): a
// table of counts at eleven shares. Other populations have other tables. A plan from a running
// analysis moves the table along its shares until it has as many starts as were really found. The
// plan is a prediction, not a promise; docs/trie.md verifies it by simulation.
//
// English says nearly all that it says in words of up to five letters, so that a plan for it alone
// gives up longer ones. Where a length is wanted (a depth below AGG_TRIE_DEPTH_OPEN) a second
// population counts besides, at half the weight: as many words as English has at each share, spread
// evenly over all lengths that the depth holds.
//
// Starts are let through at a higher false-discovery rate than words (trie_layer.h): a false one
// costs cells, not truth.
#ifndef TRIE_PLAN_H
#define TRIE_PLAN_H

#include <stdint.h>

#include "agg_error.h"
#include "trie_layer.h" // AGG_TRIE_DEPTH_OPEN

#define AGG_TRIE_ROUNDS_MAX 8u
// Bytes of a binary record, unless the wish states them; twice as many where a length is wanted.
#define AGG_TRIE_RECORD_BYTES 4096.0
#define AGG_TRIE_LENGTH_RECORD_BYTES 8192.0

typedef struct agg_trie_wish {
    double devices;       // devices that are left for this pass, 1 or more
    double epsilon;       // epsilon of one contribution
    double contributions; // contributions of a device; 0 means 1
    uint32_t depth;       // characters of a word and its end, at most
    uint32_t characters;  // characters of the list, 1 or more
    double max_prefixes;  // 0: no cap
    double record_bytes;  // 0: AGG_TRIE_RECORD_BYTES
    double fdr;           // 0 means 0.05
    uint32_t from_depth;  // depth of the existing starts; 0: the empty start
    double n_starts;      // their number; not read where from_depth is 0
    double least_share;   // share of contributions of the weakest start: rarer words were lost
                          // before; 0: unknown
    uint32_t step;        // step of the first round, if it is settled; 0: any
} agg_trie_wish;

typedef struct agg_trie_round {
    uint32_t depth, step; // depth of its starts; characters that it adds
    double devices;       // devices that answer it
    double starts, cells; // expected
    double set;           // indices in a record
    double share;         // the share of contributions that is found with probability one half
    double words;         // expected to be found, were they English
    double even;          // expected to be found, were lengths even
} agg_trie_round;

typedef struct agg_trie_plan {
    uint32_t n_rounds; // 0: not even one character behind the starts fits a record
    agg_trie_round rounds[AGG_TRIE_ROUNDS_MAX];
    double words; // words found in all rounds
    double worth; // what the plan was chosen for: words, and those of even lengths
    double left;  // starts that the last round leaves behind
} agg_trie_plan;

// Plans the rest of one pass. Words longer than the last round reaches (agg_trie_plan_reach) are
// given up, because they are too rare for the devices that they would take.
// Cost: some tenths of a second.
void agg_trie_plan_run(agg_trie_plan *plan, const agg_trie_wish *wish);

// Returns: the characters of the longest word that the plan's rounds can find; 0 without rounds.
uint32_t agg_trie_plan_reach(const agg_trie_plan *plan);

// Returns: the most bytes of a binary record for a recipe's depth, unless a wish states them.
double agg_trie_record_bytes(uint32_t depth);

// Returns: the number of cells for n starts and a step.
double agg_trie_cells(double n_starts, uint32_t characters, uint32_t step);

#endif
