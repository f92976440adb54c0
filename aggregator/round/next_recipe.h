// SPDX-License-Identifier: Apache-2.0
// The text of the next round's recipe: this round's file with its changes, everything else in the
// same place and order. JSON by cJSON; pure.
//
// Replaced are `recipe` (the id with its round counted up: "ngrams-1" gives "ngrams-2"), `round`
// (the index, and the query hash of this round), one field's prefixes and tokens, boundaries, or
// starts and step, `seed` if there is one, and the members that the caller asks for; for a trie
// also parameters.known and pass, and send.sample. The signature is left out since it no longer
// holds, and `part` since the next round is asked of all parts. A recipe without `round` is
// followed by round 1 (accountant.h). The text is not checked here: read it back with
// agg_recipe_from_bytes.
#ifndef NEXT_RECIPE_H
#define NEXT_RECIPE_H

#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"
#include "recipe_json.h"

typedef struct agg_next_recipe {
    const char *id;        // NULL: this round's id, counted up
    const char *mechanism; // NULL: unchanged. Else one whose only parameter is epsilon, which is
                           // then the recipe's stated cost
    const char *expires;   // NULL: unchanged
    const char *seed_hex;  // 64 hex digits, for a recipe that has a seed
    uint32_t version;      // 0: unchanged
    double cohort_epsilon; // 0: unchanged
    uint32_t field;        // index in the encoding of the field that changes
    const agg_text *prefixes;
    size_t n_prefixes;      // 0: unchanged
    const agg_text *tokens; // NULL: unchanged
    size_t n_tokens;
    const int64_t *boundaries; // in micro-units
    size_t n_boundaries;       // 0: unchanged
    const agg_text *starts;    // of a trie, written front-coded (front_coded.h) in this order
    size_t n_starts;           // 0: the recipe is of no trie, and the members below are ignored
    const agg_text *known;     // known words, written front-coded
    size_t n_known;            // 0: no known words
    uint32_t step, pass;
    double sample; // in millionths
} agg_next_recipe;

// Writes the text, NUL-terminated, one member a line. Release with free.
//   recipe: the recipe of this round, which has an encoding
// Returns: SHOAL_ERR_RANGE for a boundary that JSON cannot state exactly, AGG_ERR_USAGE for a
// mechanism that cannot follow.
agg_err agg_next_recipe_text(char **text, agg_error *error, const agg_recipe *recipe,
                             const agg_next_recipe *next) SHOAL_MUST_CHECK;

struct cJSON;

// Writes a recipe's JSON as text, NUL-terminated, one member a line. Release with free.
agg_err agg_next_recipe_print(char **text, agg_error *error,
                              const struct cJSON *root) SHOAL_MUST_CHECK;

#endif
