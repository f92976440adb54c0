// SPDX-License-Identifier: Apache-2.0
// Writing and hashing a recipe's canonical bytes (recipe.h has their form). Private to the core.
#ifndef SHOAL_RECIPE_CANONICAL_H
#define SHOAL_RECIPE_CANONICAL_H

#include "recipe_fields.h"

// Flags of the rows that each kind of bytes leaves out: nothing for the hash of a recipe, the part
// for what is signed, part and round for the hash of a run.
enum {
    SHOAL_WHOLE = 0,
    SHOAL_WITHOUT_PART = SHOAL_OF_PART,
    SHOAL_WITHOUT_ROUND = SHOAL_OF_PART | SHOAL_OF_ROUND
};

// Writes the canonical bytes of a recipe whose parts are made.
//   left_out: one of the sets above
// Returns: SPACE where they do not fit.
shoal_err shoal_recipe_write(uint8_t *out, size_t cap, size_t *len, const shoal_recipe *recipe,
                             uint32_t left_out) SHOAL_MUST_CHECK;

// Writes the SHA-256 of those bytes.
shoal_err shoal_recipe_hash(uint8_t hash[32], const shoal_recipe *recipe,
                            uint32_t left_out) SHOAL_MUST_CHECK;

// Writes the SHA-256 of the fields that a variable states, which the recipe holds at this moment.
void shoal_recipe_hash_variable(uint8_t hash[32], const shoal_recipe *recipe);

#endif
