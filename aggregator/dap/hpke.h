// SPDX-License-Identifier: Apache-2.0
// HPKE (RFC 9180) by OpenSSL's libcrypto: base mode, one message for each context, DHKEM(X25519,
// HKDF-SHA256), HKDF-SHA256 and AES-128-GCM. Also the key files of servers and collectors.
//
// A key file is JSON: {"id": 1, "kem": "x25519", "kdf": "hkdf-sha256", "aead": "aes-128-gcm",
// "public_key": 64 hex digits, "secret_key": 64 hex digits}. A file without `secret_key` is the
// public half, for the other parties. A file with a secret is refused if others than its owner may
// read it.
//
// Privacy: a server's secret key opens that server's shares in the messages of devices, and both
// servers' keys open every measurement. Two parties must hold the two servers' keys.
#ifndef HPKE_H
#define HPKE_H

#include <stdbool.h>

#include "agg_error.h"
#include "dap.h"

#define AGG_HPKE_TAG 16   // bytes that sealing adds
#define AGG_HPKE_ENC 32   // bytes of an encapsulated key
#define AGG_HPKE_INFO 256 // most bytes of an info string

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
    uint8_t id; // ciphertexts name it; distinct among the keys of one server
    uint8_t public_key[32], secret_key[32];
    bool has_secret;
} agg_hpke_key;

// Generates a key pair.
agg_err agg_hpke_key_new(agg_hpke_key *key, agg_error *error, uint8_t id) SHOAL_MUST_CHECK;

// Reads a key file. Errors name the file and the field, never the content.
// Returns: AGG_ERR_IO with exit code 3 also for a secret that others than the owner may read.
agg_err agg_hpke_key_load(agg_hpke_key *key, agg_error *error, const char *path) SHOAL_MUST_CHECK;

enum { AGG_HPKE_PUBLIC = 0, AGG_HPKE_SECRET = 1 };

// Writes a key file: the public half, or both halves in a file that only the owner may read.
//   half: AGG_HPKE_PUBLIC or AGG_HPKE_SECRET
agg_err agg_hpke_key_save(const agg_hpke_key *key, agg_error *error, const char *path,
                          int half) SHOAL_MUST_CHECK;

void agg_hpke_key_wipe(agg_hpke_key *key);

// Returns: the key as servers advertise it. It points into `key`.
shoal_dap_hpke_config agg_hpke_config(const agg_hpke_key *key);

#endif
