// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4). The core uses it for recipe hashes and value lists.
#ifndef SHOAL_SHA256_H
#define SHOAL_SHA256_H

#include <stddef.h>
#include <stdint.h>

typedef struct shoal_sha256 {
    uint32_t state[8];
    uint64_t total;    // bytes so far
    uint8_t block[64]; // the block being filled
} shoal_sha256;

// Starts a digest of no bytes.
void shoal_sha256_init(shoal_sha256 *sha);
// Appends len bytes; the split into calls does not change the digest.
void shoal_sha256_update(shoal_sha256 *sha, const uint8_t *bytes, size_t len);
// Writes the digest of all bytes so far. `sha` must be initialised again before reuse.
void shoal_sha256_final(uint8_t digest[32], shoal_sha256 *sha);

#endif
