// SPDX-License-Identifier: Apache-2.0
// HPKE (RFC 9180) by OpenSSL's libcrypto: base mode, one message a context, DHKEM(X25519,
// HKDF-SHA256), HKDF-SHA256, AES-128-GCM. And the key files of servers and collectors.
//
// A key file is JSON: {"id": 1, "kem": "x25519", "kdf": "hkdf-sha256", "aead": "aes-128-gcm",
// "public_key": 64 hex digits, "secret_key": 64 hex digits}. Without `secret_key` it is the public
// half, for the other parties. A file with a secret that anybody but its owner may read is refused.
//
// Privacy: whoever has a server's secret key and what devices send can read that server's shares;
// with both servers' keys, every measurement. The keys of the two servers belong to two parties.
#ifndef HPKE_H
#define HPKE_H

#include <stdbool.h>

#include "agg_error.h"
#include "dap.h"

#define AGG_HPKE_TAG 16   // bytes that a ciphertext is longer than its plaintext
#define AGG_HPKE_ENC 32   // bytes of an encapsulated key
#define AGG_HPKE_INFO 256 // bytes of an info string at most

// Seals a message to a public key. Safe in threads.
//   enc: the encapsulated key
//   ciphertext: plaintext.len + AGG_HPKE_TAG bytes
// Returns: SHOAL_ERR_RANGE for a public key of small order; SHOAL_ERR_ARGUMENT for an info string
// that is too long or a message of 2 GiB; AGG_ERR_MEMORY when the library fails.
// Cost: two products on the curve, seven HMACs, and AES over the message.
agg_err agg_hpke_seal(uint8_t enc[AGG_HPKE_ENC], uint8_t *ciphertext, const uint8_t public_key[32],
                      shoal_bytes info, shoal_bytes aad, shoal_bytes plaintext) SHOAL_MUST_CHECK;

// Returns: the interface through which the core seals and opens. `self` is unused. Safe in threads.
//   seal: as agg_hpke_seal
//   open: SHOAL_ERR_RECORD for a ciphertext that was not sealed to this key with this info and this
//   aad; SHOAL_ERR_TRUNCATED below AGG_HPKE_TAG bytes. `plaintext` is zeros after an error.
// The core's errors have no number for a library that fails: both return SHOAL_ERR_SPACE then, and
// the core gives the message up as it does after any error.
const shoal_dap_sealer *agg_hpke(void);

typedef struct agg_hpke_key {
    uint8_t id; // what ciphertexts name; distinct among the keys of one server
    uint8_t public_key[32], secret_key[32];
    bool has_secret;
} agg_hpke_key;

// A fresh pair.
agg_err agg_hpke_key_new(agg_hpke_key *key, agg_error *error, uint8_t id) SHOAL_MUST_CHECK;

// Reads a key file; errors name the file and the field, never what is in it.
// Returns: AGG_ERR_IO also (exit code 3) for a secret that others than the file's owner may read
agg_err agg_hpke_key_load(agg_hpke_key *key, agg_error *error, const char *path) SHOAL_MUST_CHECK;

enum { AGG_HPKE_PUBLIC = 0, AGG_HPKE_SECRET = 1 };

// Writes a key file: its public half, or both, which then only the owner may read.
agg_err agg_hpke_key_save(const agg_hpke_key *key, agg_error *error, const char *path,
                          int half) SHOAL_MUST_CHECK;

void agg_hpke_key_wipe(agg_hpke_key *key);

// Returns: the key as servers advertise it; it points into `key`.
shoal_dap_hpke_config agg_hpke_config(const agg_hpke_key *key);

#endif
