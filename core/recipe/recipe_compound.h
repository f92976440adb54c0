// SPDX-License-Identifier: Apache-2.0
// What only recipes of compounds have and the field table cannot hold, as recipe.c calls it.
// Private to the core.
#ifndef SHOAL_RECIPE_COMPOUND_H
#define SHOAL_RECIPE_COMPOUND_H

#include "canonical.h"
#include "compound.h"

// Sets parameters.alphabet. Returns: whether the path is that; then *err is the answer.
int shoal_compound_set_string(shoal_recipe *recipe, const char *path, size_t path_len,
                              const char *text, size_t len, shoal_err *err);

// Adds a word of parameters.known.
shoal_err shoal_compound_add_known(shoal_recipe *recipe, const char *text,
                                   size_t len) SHOAL_MUST_CHECK;

// Checks what the two say to a mechanism that takes `takes`.
shoal_err shoal_compound_check(shoal_recipe *recipe, const shoal_takes *takes) SHOAL_MUST_CHECK;

// Makes the parts of a recipe whose mechanism is a compound.
shoal_err shoal_compound_finish(shoal_recipe *recipe, const shoal_compound *compound,
                                uint32_t cells, const char **field) SHOAL_MUST_CHECK;

// Writes fields 58 (alphabet) and 59 (known: number and digest).
void shoal_compound_put(shoal_canonical *w, const shoal_recipe *recipe);

#endif
