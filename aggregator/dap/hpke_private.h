// SPDX-License-Identifier: Apache-2.0
// Sealing under a chosen ephemeral key, which the test vectors of RFC 9180 need. Only hpke.c and
// its tests include this header: two messages under one key reveal each other.
#ifndef HPKE_PRIVATE_H
#define HPKE_PRIVATE_H

#include "agg_error.h"
#include "dap.h"

// Does what agg_hpke_seal does, under the secret key `ephemeral`.
agg_err agg_hpke_seal_with(uint8_t enc[32], uint8_t *ciphertext, const uint8_t ephemeral[32],
                           const uint8_t public_key[32], shoal_bytes info, shoal_bytes aad,
                           shoal_bytes plaintext) SHOAL_MUST_CHECK;

#endif
