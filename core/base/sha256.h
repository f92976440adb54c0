// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4), for recipe hashes and value lists.
#ifndef SHOAL_SHA256_H
#define SHOAL_SHA256_H

#include <stddef.h>
#include <stdint.h>

typedef struct shoal_sha256 {
    uint32_t state[8];
    uint64_t total; // bytes so far
    uint8_t block[64];
} shoal_sha256;

void shoal_sha256_init(shoal_sha256 *sha);
void shoal_sha256_update(shoal_sha256 *sha, const uint8_t *bytes, size_t len);
// Writes the digest of everything updated; `sha` must be initialised again before reuse.
void shoal_sha256_final(uint8_t digest[32], shoal_sha256 *sha);

#endif
