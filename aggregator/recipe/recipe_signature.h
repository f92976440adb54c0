// SPDX-License-Identifier: Apache-2.0
// Who stands behind a recipe: Ed25519 (RFC 8032) over its canonical bytes, by OpenSSL's libcrypto.
//
// A recipe file may hold "signature": {"key": 64 hex digits, "ed25519": 128 hex digits}. Signed are
// the ASCII bytes "shoal recipe signature 1\n" and the canonical bytes behind them: white space,
// order and fields at their default may change under a signature, no field may. The core knows
// nothing of it. WASI has no libcrypto: there all of this says so and fails.
#ifndef RECIPE_SIGNATURE_H
#define RECIPE_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"
#include "recipe_json.h"

// Returns: whether this build can sign and verify.
bool agg_signature_is_built(void);

// Ed25519 itself.
// Returns: AGG_ERR_SIGNATURE (exit code 3) when the signature is not the key's over these bytes.
agg_err agg_ed25519_verify(agg_error *error, const uint8_t key[32], const uint8_t signature[64],
                           const uint8_t *bytes, size_t len) SHOAL_MUST_CHECK;

// The private key of a PEM text (PKCS#8, as `openssl genpkey -algorithm ed25519` writes), signing.
//   key: the public key that goes with it, written on OK
agg_err agg_ed25519_sign(uint8_t key[32], uint8_t signature[64], agg_error *error, const char *pem,
                         size_t pem_len, const uint8_t *bytes, size_t len) SHOAL_MUST_CHECK;

// A public key: 64 hex digits, or a PEM text (as `openssl pkey -pubout` writes).
agg_err agg_ed25519_public(uint8_t key[32], agg_error *error, const char *text,
                           size_t len) SHOAL_MUST_CHECK;

// Is the recipe signed, and well, by the key that it names? Whose key that is, the caller must
// know. Returns: AGG_ERR_SIGNATURE (exit code 3) when it has no signature or a bad one.
agg_err agg_recipe_verify(agg_error *error, const agg_recipe *recipe) SHOAL_MUST_CHECK;

// Signs the recipe; what it held before is replaced. See agg_recipe_signed_text for its file.
agg_err agg_recipe_sign(agg_recipe *recipe, agg_error *error, const char *pem,
                        size_t pem_len) SHOAL_MUST_CHECK;

// The recipe's file with its signature in it: in the place of the one that it held, else as the
// last member. All else stays as it was, byte for byte. Returns: the NUL-terminated text, to be
// freed; NULL with `error` filled.
char *agg_recipe_signed_text(agg_error *error, const agg_recipe *recipe);

#endif
