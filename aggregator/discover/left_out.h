// SPDX-License-Identifier: Apache-2.0
// How much a trie's alphabet leaves out, estimated from its first round. Pure.
//
// A device whose word has a character outside the alphabet, among the characters that the first
// round asks for, reports "nothing to report" (trie.h). So does a device without a word. Subset
// selection counts that answer like any other, as the last index of its list. Its estimate is
// therefore the share of the reports that name no word of the alphabet:
//
//     share = (C/n - q) / (p - q),    Var = noise^2 + share (1 - share) (1 - n/N) / n
//
// with C of the round's n reports that hold the index, and N reports of all rounds. The last term
// is for having asked only a part of the devices. Few expected accidents have an exact interval
// (small_counts.h), others a normal one.
//
// It is a lower bound for the words that the alphabet cannot spell: a later character is asked for
// by later rounds, which cannot tell such a word from one that begins with no start. The two
// reasons for having nothing to report cannot be told apart either.
#ifndef LEFT_OUT_H
#define LEFT_OUT_H

#include <stdint.h>

#include "accumulator.h"
#include "recipe_json.h"

#define AGG_LEFT_OUT_TEXT 256u // bytes that every text has room in, NUL included

typedef struct agg_left_out {
    uint32_t characters;        // of a word that the round asks for; 0: nothing was estimated
    double share, stderr_;      // of the reports; unbiased, may be negative
    double low, high;           // the share's interval
    double confidence;          // its level
    const shoal_recipe *recipe; // of the first round
} agg_left_out;

// Estimates the share.
//   recipe: of a trie's round. A round that does not begin with the empty start, or of a later
//     pass, says nothing of the alphabet: then `characters` is 0
//   acc: of the recipe; without reports `characters` is 0 too
//   all: reports of all rounds, at least acc->n
//   confidence: in (0, 1)
// Privacy: post-processing of private records. The share is of no single string.
void agg_left_out_estimate(agg_left_out *out, const agg_recipe *recipe, const agg_accumulator *acc,
                           double all, double confidence);

// Says the estimate in words. Everything that states it takes its words from here.
//   left_out: something was estimated
void agg_left_out_say(char text[AGG_LEFT_OUT_TEXT], const agg_left_out *left_out);

#endif
