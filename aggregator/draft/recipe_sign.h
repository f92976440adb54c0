// SPDX-License-Identifier: Apache-2.0
// Recipes signed and verified from the command line; what is signed, recipe_signature.h says.
#ifndef RECIPE_SIGN_H
#define RECIPE_SIGN_H

#include "agg_error.h"
#include "recipe_json.h"

// Writes the recipe with a signature in it. A key file that others may read is warned of. The text
// is read back and verified first.
//   key: file of a private key, PEM; NULL is refused
//   output: NULL or "-" is standard output
agg_err recipe_sign(agg_error *error, const char *path, const char *key,
                    const char *output) SHOAL_MUST_CHECK;

// Verifies one file and prints who signed it.
//   key: 64 hex digits or a file of a public key that it must be signed by; NULL: any
// Returns: an exit code; AGG_EXIT_PRIVACY when the signature is missing, bad or of another key.
int recipe_verify(const char *path, const char *key);

// Prints who signed a recipe, and nothing where nobody did.
// Returns: an exit code; AGG_EXIT_PRIVACY when the signature is bad.
int recipe_signer_print(const agg_recipe *recipe);

#endif
