// SPDX-License-Identifier: Apache-2.0
// Who signed a recipe, in print; recipe_signature.h says which bytes are signed.
#ifndef RECIPE_SIGNER_H
#define RECIPE_SIGNER_H

#include "recipe_json.h"

// Verifies one file and prints who signed it.
//   key: 64 hex digits or a file of a public key that it must be signed by; NULL: any
// Returns: an exit code; AGG_EXIT_PRIVACY when the signature is missing, bad or of another key.
int recipe_verify(const char *path, const char *key);

// Prints who signed a recipe, and nothing where nobody did.
// Returns: an exit code; AGG_EXIT_PRIVACY when the signature is bad.
int recipe_signer_print(const agg_recipe *recipe);

#endif
