// SPDX-License-Identifier: Apache-2.0
// The next round's recipe: this round's file with what the round changed, everything else in its
// place and order. JSON by cJSON; pure.
//
// Replaced: `recipe` (the id: its round's number counted up, "ngrams-1" gives "ngrams-2", or
// appended), `round` (index and the query hash of this round), one field's prefixes and tokens,
// boundaries, or starts and step, `seed` where there is one, and what is asked for; of a trie also
// parameters.known and pass, and send.sample. Left out: the signature, which no longer holds, and
// `part`, as the next round is asked of all parts. A recipe without `round` counts as none: what
// follows it is round 1 (accountant.h). What is written is not checked here: read it back with
// agg_recipe_from_bytes.
#ifndef NEXT_RECIPE_H
#define NEXT_RECIPE_H

#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"
#include "recipe_json.h"

typedef struct agg_next_recipe {
    const char *id;        // NULL: counted up
    const char *mechanism; // NULL: as it is. Else one whose only parameter is epsilon; the recipe's
                           // stated cost is its epsilon
    const char *expires;   // NULL: as it is
    const char *seed_hex;  // 64 hex digits, for a recipe that has a seed
    uint32_t version;      // 0: as it is
    double cohort_epsilon; // 0: as it is
    uint32_t field;        // index in the encoding of the field that changes
    const agg_text *prefixes;
    size_t n_prefixes;      // 0: the prefixes stay
    const agg_text *tokens; // NULL: the tokens stay
    size_t n_tokens;
    const int64_t *boundaries; // in micro-units
    size_t n_boundaries;       // 0: the boundaries stay
    const agg_text *starts;    // written front-coded (front_coded.h), in their order
    size_t n_starts;           // 0: the recipe is of no trie, and what follows stays
    const agg_text *known;     // front-coded
    size_t n_known;            // 0: the recipe has none
    uint32_t step, pass;
    double sample; // in millionths
} agg_next_recipe;

// Writes the text, NUL-terminated, one member a line. Release with free.
//   recipe: of this round, with an encoding
// Returns: SHOAL_ERR_RANGE for a boundary that JSON cannot state exactly, AGG_ERR_USAGE for a
// mechanism that cannot follow.
agg_err agg_next_recipe_text(char **text, agg_error *error, const agg_recipe *recipe,
                             const agg_next_recipe *next) SHOAL_MUST_CHECK;

struct cJSON;

// Writes a recipe's JSON as text, NUL-terminated, one member a line. Release with free.
agg_err agg_next_recipe_print(char **text, agg_error *error,
                              const struct cJSON *root) SHOAL_MUST_CHECK;

#endif
