// SPDX-License-Identifier: Apache-2.0
// Prints who signed a recipe; recipe_signature.h says which bytes are signed.
#ifndef RECIPE_SIGNER_H
#define RECIPE_SIGNER_H

#include "recipe_json.h"

// Verifies one file and prints who signed it.
//   key: the public key that must have signed it, as 64 hex digits or a file; NULL: any
// Returns: an exit code; AGG_EXIT_PRIVACY when the signature is missing, bad or of another key.
int recipe_verify(const char *path, const char *key);

// Prints who signed a recipe; prints nothing for an unsigned recipe.
// Returns: an exit code; AGG_EXIT_PRIVACY when the signature is bad.
int recipe_signer_print(const agg_recipe *recipe);

#endif
