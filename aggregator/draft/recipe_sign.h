// SPDX-License-Identifier: Apache-2.0
// Signs recipes from the command line; recipe_signature.h says which bytes are signed.
#ifndef RECIPE_SIGN_H
#define RECIPE_SIGN_H

#include "agg_error.h"

// Writes the recipe with a signature in it. The text is read back and verified first. A warning is
// logged if others may read the key file.
//   key: file of a private key, PEM; NULL is refused
//   output: NULL or "-" is standard output
agg_err recipe_sign(agg_error *error, const char *path, const char *key,
                    const char *output) SHOAL_MUST_CHECK;

#endif
