// SPDX-License-Identifier: Apache-2.0
// Plans a trie: in how many rounds it is built, how many characters each round adds, and how many
// devices answer it (gboard-2024 Algorithm 2 adds one character a round and asks as many devices
// each time). Pure.
//
// A step of t characters asks about |P| (X + X^2 + ... + X^t) cells at once. More cells cost bytes
// of a record (a set has one in e^epsilon + 1 of them), and a higher bar, as more can stand out by
// accident; fewer rounds leave more devices for each, so that less is noise. Of every sequence of
// steps that keeps records below a bound the model says how many words are found, and the best
// sequence's shares of the devices are then moved between its rounds until no word more is found.
//
// The model: of n reports a word of share f is found as often as not where f n (p - q) = z sqrt(n q
// (1 - q)) + z^2/6, the last for the skewness of few votes, z being the bar of false-discovery rate
// `fdr` among the round's words; the same for starts. How many words of each length and how many
// starts of each depth have such a share is taken from a population of reference, English as spoken
// in films (PEERS: SUBTLEX, 47.6 million tokens): a table of counts at eleven shares. Other
// populations have other tables; what is planned from a running analysis moves the table along its
// shares until it has as many starts as were really found. No promise: verified by simulation in
// docs/trie.md.
#ifndef TRIE_PLAN_H
#define TRIE_PLAN_H

#include <stdint.h>

#include "agg_error.h"

#define AGG_TRIE_ROUNDS_MAX 8u
#define AGG_TRIE_RECORD_BYTES 4096.0 // of a binary record, where the wish says nothing

typedef struct agg_trie_wish {
    double devices;       // that are left for this pass, 1 or more
    double epsilon;       // of one contribution
    double contributions; // of a device; 0 means 1
    uint32_t depth;       // characters of a word and its end, at most
    uint32_t characters;  // of the list, 1 or more
    double max_prefixes;  // 0: no cap
    double record_bytes;  // 0: AGG_TRIE_RECORD_BYTES
    double fdr;           // 0 means 0.05
    uint32_t from_depth;  // of the starts that are there; 0: the empty one
    double n_starts;      // how many; not read where from_depth is 0
    double least_share;   // of contributions, of the weakest of them: rarer words were lost before;
                          // 0: not known
    uint32_t step;        // of the first round, where that is settled; 0: any
} agg_trie_wish;

typedef struct agg_trie_round {
    uint32_t depth, step; // of its starts; characters that it adds
    double devices;       // that answer it
    double starts, cells; // expected
    double set;           // indices of a record
    double share;         // the least that is found as often as not, of contributions
    double words;         // expected to be found
} agg_trie_round;

typedef struct agg_trie_plan {
    uint32_t n_rounds; // 0: not even one character behind the starts fits a record
    agg_trie_round rounds[AGG_TRIE_ROUNDS_MAX];
    double words; // of all rounds
    double left;  // starts that the last leaves behind
} agg_trie_plan;

// Plans what is left of one pass. Cost: some tenths of a second.
// Words longer than the last round reaches are given up: they are too rare for the devices that
// they would take.
void agg_trie_plan_run(agg_trie_plan *plan, const agg_trie_wish *wish);

// Returns: the cells of n starts and a step.
double agg_trie_cells(double n_starts, uint32_t characters, uint32_t step);

#endif
