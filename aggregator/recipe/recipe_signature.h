// SPDX-License-Identifier: Apache-2.0
// Signs recipes and verifies their signatures: Ed25519 (RFC 8032) by OpenSSL's libcrypto.
//
// A recipe file may contain "signature": {"key": 64 hex digits, "ed25519": 128 hex digits}. The
// signed message is the ASCII bytes "shoal recipe signature 1\n" and then the recipe's canonical
// bytes. A signed file may change its white space, the order of its members and fields that are at
// their default, but no value. The core does not know signatures. WASI has no libcrypto: there
// every function fails and says why.
#ifndef RECIPE_SIGNATURE_H
#define RECIPE_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"
#include "recipe_json.h"

// Returns: whether this build can sign and verify.
bool agg_signature_is_built(void);

// Verifies an Ed25519 signature of the bytes.
// Returns: AGG_ERR_SIGNATURE (exit code 3) if the key has not made the signature.
agg_err agg_ed25519_verify(agg_error *error, const uint8_t key[32], const uint8_t signature[64],
                           const uint8_t *bytes, size_t len) SHOAL_MUST_CHECK;

// Signs the bytes with Ed25519.
//   key: the public key, written on OK
//   pem: the private key (PKCS#8, as `openssl genpkey -algorithm ed25519` writes it)
agg_err agg_ed25519_sign(uint8_t key[32], uint8_t signature[64], agg_error *error, const char *pem,
                         size_t pem_len, const uint8_t *bytes, size_t len) SHOAL_MUST_CHECK;

// Reads a public key.
//   text: 64 hex digits, or a PEM text (as `openssl pkey -pubout` writes it)
agg_err agg_ed25519_public(uint8_t key[32], agg_error *error, const char *text,
                           size_t len) SHOAL_MUST_CHECK;

// Verifies the recipe's signature by the key that it names. The caller must know whose key that is.
// Returns: AGG_ERR_SIGNATURE (exit code 3) if the recipe has no signature or a wrong one.
agg_err agg_recipe_verify(agg_error *error, const agg_recipe *recipe) SHOAL_MUST_CHECK;

// Signs the recipe in memory, in place of any earlier signature. agg_recipe_signed_text gives its
// file.
agg_err agg_recipe_sign(agg_recipe *recipe, agg_error *error, const char *pem,
                        size_t pem_len) SHOAL_MUST_CHECK;

// Writes the recipe's file with its signature: in place of the earlier one, or as the last member.
// All other bytes stay as they were.
// Returns: the NUL-terminated text, to be freed; NULL with `error` filled on failure.
char *agg_recipe_signed_text(agg_error *error, const agg_recipe *recipe);

#endif
