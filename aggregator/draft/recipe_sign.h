// SPDX-License-Identifier: Apache-2.0
// Recipes signed from the command line; recipe_signature.h says which bytes are signed.
#ifndef RECIPE_SIGN_H
#define RECIPE_SIGN_H

#include "agg_error.h"

// Writes the recipe with a signature in it. A key file that others may read is warned of. The text
// is read back and verified first.
//   key: file of a private key, PEM; NULL is refused
//   output: NULL or "-" is standard output
agg_err recipe_sign(agg_error *error, const char *path, const char *key,
                    const char *output) SHOAL_MUST_CHECK;

#endif
