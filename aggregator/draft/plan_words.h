// SPDX-License-Identifier: Apache-2.0
// The two ways to find strings that nobody listed, side by side: sfp (sfp_plan.h) and the rounds of
// a trie (trie_plan.h), and the recipe that begins with the chosen one.
#ifndef PLAN_WORDS_H
#define PLAN_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "sfp_plan.h"
#include "trie_plan.h"

#define AGG_WORDS_CHARACTERS "abcdefghijklmnopqrstuvwxyz"

typedef enum agg_words_method { AGG_WORDS_SFP, AGG_WORDS_TRIE } agg_words_method;
extern const char *const agg_words_methods[]; // by agg_words_method; ends with NULL
extern const char *const agg_words_oracles[]; // "olh", "cms"; ends with NULL

typedef struct agg_words_plan {
    // What is planned for.
    double devices;
    uint32_t eps_micro;     // of a device, shared out over its contributions
    uint32_t length;        // bytes of a string of sfp, even
    uint32_t depth;         // characters of a word of the trie
    const char *characters; // of the trie, UTF-8, n_characters of them
    uint32_t n_characters, contributions;
    size_t oracle;  // of sfp: position in agg_words_oracles
    bool is_chosen; // `method` is the caller's choice, else that which finds rarer strings

    // The plan.
    agg_words_method method;
    agg_sfp_plan sfp;
    agg_trie_plan trie;
    double share[2]; // by method: the share of devices from which on a string is found as often as
                     // not; 1 where nothing is
} agg_words_plan;

// Counts the characters and writes n_characters.
// Returns: AGG_ERR_USAGE for text that is not UTF-8, that is empty, or that holds blanks, quotes or
// backslashes.
agg_err agg_words_plan_count_characters(agg_words_plan *plan, agg_error *error) SHOAL_MUST_CHECK;

// Plans. Returns: AGG_ERR_USAGE where no trie fits and one is asked for.
agg_err agg_words_plan_run(agg_words_plan *plan, agg_error *error) SHOAL_MUST_CHECK;

// Returns: the epsilon of one contribution, in micro-units.
uint32_t agg_words_plan_contribution_micro(const agg_words_plan *plan);

// Writes the recipe of the chosen method to a file, with a fresh random seed; NULL or "-" is
// standard output. The text is read back before anything is written.
//   policy: file of the policy that the recipe is a query under, or NULL
//   expires: the last day, or NULL: in 180 days
agg_err agg_words_plan_write(const agg_words_plan *plan, agg_error *error, const char *path,
                             const char *id, const char *policy,
                             const char *expires) SHOAL_MUST_CHECK;

#endif
