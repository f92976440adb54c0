// SPDX-License-Identifier: Apache-2.0
// Permanent randomness by hashing; see permanent.h.
#include "permanent.h"

#include "bytes.h"
#include "sha256.h"

void shoal_permanent_rng(shoal_rng *rng, const shoal_permanent *permanent, const uint8_t seed[32], const char label[12],
                         uint64_t item)
{
    static const char title[] = "shoal permanent 1";
    uint8_t bytes[8], key[32];
    shoal_sha256 sha;
    store64_le(bytes, item);
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, (const uint8_t *)title, sizeof title - 1);
    shoal_sha256_update(&sha, permanent->secret, sizeof permanent->secret);
    shoal_sha256_update(&sha, seed, 32);
    shoal_sha256_update(&sha, (const uint8_t *)label, 12);
    shoal_sha256_update(&sha, bytes, sizeof bytes);
    shoal_sha256_final(key, &sha);
    shoal_rng_init(rng, key);
    wipe(bytes, sizeof bytes);
    wipe(key, sizeof key);
    wipe(&sha, sizeof sha);
}
