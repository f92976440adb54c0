// SPDX-License-Identifier: Apache-2.0
// LDP-TrieHH, the device's side of one round (gboard-2024, Algorithms 1 and 2).
//
// A round is a recipe whose encoding has one field of starts and characters (encoding.h): the
// prefixes P that the rounds before found, and what may follow each. A device takes its words that
// are not `known`, finds the cell of each, chooses `contributions` distinct cells of those that
// carry a start and a listed continuation, fills up with "nothing to report" (the paper's gamma),
// and sends each as a record of its own by subset selection (subset.h) over the cells and gamma. It
// answers one round of an analysis, once (accountant.h).
//
//     sampler "random"    every set of so many distinct cells alike, however often the device's
//     words fall into each sampler "greedy"    the cells that most of its words fall into; of those
//     that tie, at random
//
// Privacy, replacement model, of all records of a device together, in the order in which they are
// made:
//     item-level    epsilon: one word of the device, however often it was typed, changed into any
//     other, or taken away user-level    contributions * epsilon: all of its words changed
// The first holds because of that change the chosen cells feel one at most. Give each cell a random
// number and order cells by count (greedy; random: all alike) and number: the first B are the
// choice. Lowering a's count moves a alone: where a leaves, the next in line, c, comes in as the
// last of the B. Raising b's moves b alone: where b comes in, the last leaves, and after a left
// that is c. So that the choice loses a, or what b displaces, and gains one. In an order that the
// choice shows this would be untrue (gamma last says how many words there are: e^epsilon (1 +
// e^epsilon)/2 for two contributions), so that the cells are put in any order alike. Records are
// sent one by one, so that after shuffling n of them amplification is that of n records of epsilon
// each. Cost: records take O(d), d = ceil(s / (e^epsilon + 1)) (and moves of O(d^2) words of
// memory); choosing takes 2 contributions draws and O(words (words + contributions)) comparisons at
// most. Nothing grows with the number of cells. Draws of the choice, in order: below(cells left
// that are alike) for each contribution, while there are any; then, to put them in order,
// below(contributions), below(contributions - 1), ... below(2).
// Parameters: contributions 1 .. 64; depth (characters of a word and its end at most),
// max_prefixes, passes, pass and sampler are the analyst's plan, stated so that people can read it.
// Part: subset's, with size = cells of the encoding.
#ifndef SHOAL_TRIE_H
#define SHOAL_TRIE_H

#include "compound.h"

#define SHOAL_TRIE_CONTRIBUTIONS_MAX 64u
#define SHOAL_TRIE_WORDS_MAX 4096u // of one device that are looked at

// Returns: whether a bucket of the field carries a start and a listed continuation, or an end: what
// a device has to report.
int shoal_trie_is_answer(const shoal_encoded *field, uint32_t bucket);

// Chooses what a device reports.
//   items: recipe->contributions items for shoal_record_randomize, SHOAL_ITEM_NONE for gamma;
//   written buckets: of the device's words, one each, repeated where words are; n_words of them,
//   overwritten rng: draws that depend on the words' buckets: fresh and secret as those of a record
// Returns: RANGE for more than SHOAL_TRIE_WORDS_MAX words; ARGUMENT where the recipe is no trie.
// Timing: depends on the words; what is sent does not show it.
shoal_err shoal_trie_choose(uint64_t *items, const shoal_recipe *recipe, uint32_t *buckets,
                            uint32_t n_words, shoal_rng *rng) SHOAL_MUST_CHECK;

#endif
