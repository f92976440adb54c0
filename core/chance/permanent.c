// SPDX-License-Identifier: Apache-2.0
// Derives permanent randomness by hashing; see permanent.h.
#include "permanent.h"

#include "bytes.h"
#include "sha256.h"

void shoal_permanent_rng(shoal_rng *rng, const shoal_permanent *permanent,
                         const shoal_permanent_key *key, uint64_t item)
{
    static const char title[] = "shoal permanent 1"; // keeps this use of SHA-256 apart from others
    uint8_t shape[16], bytes[8], hash[32];
    shoal_sha256 sha;
    for (int i = 0; i < 4; i++) store32_le(shape + 4 * i, key->shape[i]);
    store64_le(bytes, item);
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, (const uint8_t *)title, sizeof title - 1);
    shoal_sha256_update(&sha, permanent->secret, sizeof permanent->secret);
    shoal_sha256_update(&sha, key->seed, 32);
    shoal_sha256_update(&sha, shape, sizeof shape);
    shoal_sha256_update(&sha, (const uint8_t *)key->label, 12);
    shoal_sha256_update(&sha, bytes, sizeof bytes);
    shoal_sha256_final(hash, &sha);
    shoal_rng_init(rng, hash);
    wipe(bytes, sizeof bytes);
    wipe(hash, sizeof hash);
    wipe(&sha, sizeof sha);
}
