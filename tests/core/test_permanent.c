// SPDX-License-Identifier: Apache-2.0
// Permanent randomness: the same for the same device, collection, label and item, and unrelated when any of them differs.
#include "permanent.h"

#include <string.h>

#include "bytes.h"
#include "check.h"
#include "sha256.h"

static uint64_t first(uint8_t secret, uint8_t seed, const char *label, uint64_t item)
{
    shoal_permanent permanent = {{secret}};
    uint8_t bytes[32] = {seed};
    shoal_rng rng;
    shoal_permanent_rng(&rng, &permanent, bytes, label, item);
    return shoal_rng_u64(&rng);
}

// The construction that permanent.h states, put together by hand.
static void construction(void)
{
    uint8_t message[17 + 32 + 32 + 12 + 8] = "shoal permanent 1", key[32];
    message[17] = 5;
    message[49] = 6;
    memcpy(message + 81, "a label here", 12);
    message[93] = 7;
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
        first(1, 1, "label number", 1), first(2, 1, "label number", 1),          first(1, 2, "label number", 1),
        first(1, 1, "label numbe2", 1), first(1, 1, "label number", UINT64_MAX), first(1, 1, "label number", 1u << 8),
    };
    CHECK(all[0] == first(1, 1, "label number", 1));
    for (int i = 0; i < 6; i++)
        for (int l = 0; l < i; l++) CHECK(all[i] != all[l]);
    construction();
    return check_summary();
}
