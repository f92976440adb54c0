// SPDX-License-Identifier: Apache-2.0
// What `shoal recipe new` writes where nothing is said of a recipe that finds words nobody listed:
// the planners' answer for sfp and for the first round of a trie, coins of the stated epsilon for
// rappor-ngram.
#ifndef RECIPE_WORDS_H
#define RECIPE_WORDS_H

#include <stdint.h>

#include "recipe_new.h"

#define RECIPE_WORDS_LETTERS "abcdefghijklmnopqrstuvwxyz"

// Parameters as a recipe states them; empty where the mechanism has none or the option says it.
typedef struct recipe_words {
    char epsilon[24], epsilon_fragment[24], k[16], m[16], k_fragment[16], m_fragment[16], p[24],
        q[24];
    uint32_t step; // of the first round of a trie
    double sample; // the share of devices that answers it
} recipe_words;

// Fills in for a compound's recipe.
//   mechanism: its id
// Returns: USAGE for numbers that no plan takes.
agg_err recipe_words_fill(recipe_words *words, agg_error *error, const recipe_options *options,
                          uint32_t mechanism) SHOAL_MUST_CHECK;

#endif
