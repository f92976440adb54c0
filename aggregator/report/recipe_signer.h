// SPDX-License-Identifier: Apache-2.0
// Prints who signed a recipe; recipe_signature.h says which bytes are signed.
#ifndef RECIPE_SIGNER_H
#define RECIPE_SIGNER_H

#include "recipe_json.h"

// Verifies one file and prints who signed it.
//   key: the public key that must have signed it, as 64 hex digits or a file; NULL: any
// Returns: an exit code; AGG_EXIT_PRIVACY when the signature is missing, bad or of another key.
int recipe_verify(const char *path, const char *key);

// What is known of a recipe's signature.
typedef enum recipe_signature {
    RECIPE_UNSIGNED = 0,
    RECIPE_SIGNED,      // by the key that it names
    RECIPE_MISSIGNED,   // not by that key
    RECIPE_NOT_VERIFIED // signatures are not part of this build
} recipe_signature;

// Returns: an exit code, as recipe_signer_print has it.
int recipe_signature_of(recipe_signature *signature, const agg_recipe *recipe);

// Returns: the word for JSON, such as "good".
const char *recipe_signature_name(recipe_signature signature);

// Prints who signed a recipe; prints nothing for an unsigned recipe.
// Returns: an exit code; AGG_EXIT_PRIVACY when the signature is bad.
int recipe_signer_print(const agg_recipe *recipe);

#endif
