// SPDX-License-Identifier: Apache-2.0
// LDP-TrieHH, the device's side of one round (gboard-2024, Algorithms 1 and 2).
//
// A round is a recipe whose encoding has one field of starts and characters (encoding.h): the
// prefixes P that earlier rounds found, and the possible continuations of each. A device takes its
// words that are not `known` and finds the cell of each. Among the cells that carry a start and a
// listed continuation it chooses `contributions` distinct ones. It fills up with "nothing to
// report" (the paper's gamma). It sends each choice as a record of its own, by subset selection
// (subset.h) over the cells and gamma. It answers one round of an analysis, once (accountant.h).
//
// - sampler "random": every set of that many distinct cells is equally likely, however often the
//   device's words fall into each
// - sampler "greedy": the cells that most of its words fall into; ties are broken at random
//
// Privacy, replacement model, of all records of a device together, in the order in which they are
// made:
// - item-level: epsilon, if one word of the device, however often it was typed, is changed into any
//   other or taken away
// - user-level: contributions * epsilon, if all of its words are changed
//
// The item-level bound holds because such a change affects at most one chosen cell. Give each cell
// a random number, and order cells by count (greedy; random: all equal) and number; the first B are
// the choice. Lowering a's count moves only a: if a leaves, the next in line, c, becomes the last
// of the B. Raising b's count moves only b: if b comes in, the last one leaves, and after a left
// that is c. So the choice loses a, or the cell that b displaces, and gains one.
//
// The bound would fail if the order of the records showed the choice. With gamma last, the order
// would tell how many words there are: e^epsilon (1 + e^epsilon)/2 for two contributions. The cells
// are therefore put in a uniformly random order. Records are sent one by one, so that after
// shuffling n of them the amplification is that of n records of epsilon each.
// Cost: records take O(d), d = ceil(s / (e^epsilon + 1)) (and moves of O(d^2) words of memory);
// choosing takes 2 contributions draws and at most O(words (words + contributions)) comparisons.
// Nothing grows with the number of cells.
// Draws of the choice, in order: below(equally good cells left) for each contribution, while there
// are any; then, for the order, below(contributions), below(contributions - 1), ... below(2).
// Parameters: contributions 1 .. 64; depth (characters of a word and its end at most),
// max_prefixes, passes, pass and sampler are the analyst's plan, stated so that people can read it.
// Part: subset's, with size = cells of the encoding.
#ifndef SHOAL_TRIE_H
#define SHOAL_TRIE_H

#include "compound.h"

#define SHOAL_TRIE_CONTRIBUTIONS_MAX 64u
#define SHOAL_TRIE_WORDS_MAX 4096u // words of one device that are looked at

// Returns: whether a device can report a bucket of the field: a start with a listed continuation,
// or with an end.
bool shoal_trie_is_answer(const shoal_encoded *field, uint32_t bucket);

// Chooses the cells that a device reports.
//   items: recipe->contributions items for shoal_record_randomize, SHOAL_ITEM_NONE for gamma;
//     written
//   buckets: n_words buckets, one per word of the device, repeated if words are; overwritten
//   rng: its draws depend on the words' buckets, so they must be as fresh and secret as those of a
//     record
// Returns: RANGE for more than SHOAL_TRIE_WORDS_MAX words; ARGUMENT if the recipe is no trie.
// Timing: depends on the words; the reports do not show it.
shoal_err shoal_trie_choose(uint64_t *items, const shoal_recipe *recipe, uint32_t *buckets,
                            uint32_t n_words, shoal_rng *rng) SHOAL_MUST_CHECK;

#endif
