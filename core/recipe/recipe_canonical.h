// SPDX-License-Identifier: Apache-2.0
// Writes and hashes a recipe's canonical bytes, whose form recipe.h describes. The header is
// private to the core.
#ifndef SHOAL_RECIPE_CANONICAL_H
#define SHOAL_RECIPE_CANONICAL_H

#include "recipe_fields.h"

// The flags of the rows that each form of the bytes leaves out. The hash of a recipe leaves nothing
// out, the signed bytes leave out the part, and the hash of a run leaves out part and round.
enum {
    SHOAL_WHOLE = 0,
    SHOAL_WITHOUT_PART = SHOAL_OF_PART,
    SHOAL_WITHOUT_ROUND = SHOAL_OF_PART | SHOAL_OF_ROUND
};

// Writes the canonical bytes of a recipe whose parts are made.
//   left_out: one of the sets above
// Returns: SPACE if they do not fit.
shoal_err shoal_recipe_write(uint8_t *out, size_t cap, size_t *len, const shoal_recipe *recipe,
                             uint32_t left_out) SHOAL_MUST_CHECK;

// Writes the SHA-256 of the canonical bytes.
shoal_err shoal_recipe_hash(uint8_t hash[32], const shoal_recipe *recipe,
                            uint32_t left_out) SHOAL_MUST_CHECK;

// Writes the SHA-256 of the fields that a variable states. The builder calls it while the recipe
// holds that variable's fields.
void shoal_recipe_hash_variable(uint8_t hash[32], const shoal_recipe *recipe);

#endif
