// SPDX-License-Identifier: Apache-2.0
// Permanent randomness: the same for the same device, collection, label and item, and unrelated
// when any of them differs.
#include "permanent.h"

#include <string.h>

#include "bytes.h"
#include "check.h"
#include "sha256.h"

static uint64_t shaped(uint8_t secret, uint8_t seed, const uint32_t shape[4], const char *label,
                       uint64_t item)
{
    shoal_permanent permanent = {{secret}};
    uint8_t bytes[32] = {seed};
    shoal_permanent_key key = {bytes, {shape[0], shape[1], shape[2], shape[3]}, label};
    shoal_rng rng;
    shoal_permanent_rng(&rng, &permanent, &key, item);
    return shoal_rng_u64(&rng);
}

static uint64_t first(uint8_t secret, uint8_t seed, const char *label, uint64_t item)
{
    const uint32_t shape[4] = {1, 2, 3, 4};
    return shaped(secret, seed, shape, label, item);
}

// The construction that permanent.h states, put together by hand.
static void construction(void)
{
    uint8_t message[17 + 32 + 32 + 16 + 12 + 8] = "shoal permanent 1", key[32];
    message[17] = 5;
    message[49] = 6;
    for (int i = 0; i < 4; i++) message[81 + 4 * i] = (uint8_t)(i + 1);
    memcpy(message + 97, "a label here", 12);
    message[109] = 7;
    shoal_sha256 sha;
    shoal_rng rng;
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, message, sizeof message);
    shoal_sha256_final(key, &sha);
    shoal_rng_init(&rng, key);
    CHECK(shoal_rng_u64(&rng) == first(5, 6, "a label here", 7));
}

int main(void)
{
    uint64_t all[6] = {
        first(1, 1, "label number", 1),          first(2, 1, "label number", 1),
        first(1, 2, "label number", 1),          first(1, 1, "label numbe2", 1),
        first(1, 1, "label number", UINT64_MAX), first(1, 1, "label number", 1u << 8),
    };
    CHECK(all[0] == first(1, 1, "label number", 1));
    for (int i = 0; i < 6; i++)
        for (int l = 0; l < i; l++) CHECK(all[i] != all[l]);
    for (int i = 0; i < 4; i++) {
        uint32_t shape[4] = {1, 2, 3, 4};
        shape[i] ^= 1u << 31;
        for (int l = 0; l < 6; l++) CHECK(shaped(1, 1, shape, "label number", 1) != all[l]);
    }
    construction();
    return check_summary();
}
