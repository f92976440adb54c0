// SPDX-License-Identifier: Apache-2.0
// The seeded stream and exact draws from it; see rng.h.
#include "rng.h"

#include "bytes.h"
#include "chacha20.h"

void shoal_rng_init(shoal_rng *rng, const uint8_t seed[32])
{
    shoal_rng_init_stream(rng, seed, 0);
}

void shoal_rng_init_stream(shoal_rng *rng, const uint8_t seed[32], uint64_t stream)
{
    for (int i = 0; i < 8; i++) rng->key[i] = load32_le(seed + 4 * i);
    rng->nonce[0] = (uint32_t)stream;
    rng->nonce[1] = (uint32_t)(stream >> 32);
    rng->block = 0;
    rng->used = sizeof rng->buffer;
}

static void refill(shoal_rng *rng)
{
    for (uint32_t i = 0; i < SHOAL_RNG_BLOCKS; i += SHOAL_CHACHA20_LANES)
        shoal_chacha20_blocks(rng->buffer + 64 * i, rng->key, rng->block + i, rng->nonce);
    rng->block += SHOAL_RNG_BLOCKS;
    rng->used = 0;
}

void shoal_rng_bytes(shoal_rng *rng, uint8_t *out, size_t len)
{
    while (len > 0) {
        if (rng->used == sizeof rng->buffer) refill(rng);
        size_t n = sizeof rng->buffer - rng->used;
        if (n > len) n = len;
        memcpy(out, rng->buffer + rng->used, n);
        rng->used += (uint32_t)n;
        out += n;
        len -= n;
    }
}

uint64_t shoal_rng_u64(shoal_rng *rng)
{
    if (sizeof rng->buffer - rng->used >= 8) {
        uint64_t x = load64_le(rng->buffer + rng->used);
        rng->used += 8;
        return x;
    }
    uint8_t eight[8]; // a draw that straddles two refills, after an odd number of bytes
    shoal_rng_bytes(rng, eight, sizeof eight);
    uint64_t x = load64_le(eight);
    wipe(eight, sizeof eight);
    return x;
}

uint64_t shoal_rng_below(shoal_rng *rng, uint64_t n)
{
    if (n <= 1) return 0;
    // 2^64 mod n draws at the top would favour the small residues: they are drawn again.
    uint64_t surplus = (UINT64_MAX % n + 1) % n;
    uint64_t last = UINT64_MAX - surplus;
    uint64_t x;
    do {
        x = shoal_rng_u64(rng);
    } while (x > last);
    return x % n;
}

uint32_t shoal_rng_bernoulli(shoal_rng *rng, uint64_t threshold)
{
    return shoal_rng_u64(rng) < threshold;
}

// One round: bit `position` of 64 uniform numbers, one a lane. A lane whose bit is below the threshold's is decided
// for 1, above it for 0, equal stays open.
static inline void compare_bit(uint64_t *less, uint64_t *open, uint64_t random, uint64_t threshold, int position)
{
    uint64_t bit = 0 - (threshold >> position & 1);
    *less |= *open & bit & ~random;
    *open &= ~(random ^ bit);
}

void shoal_rng_bernoulli_words(shoal_rng *rng, uint64_t *words, size_t n_words, uint64_t threshold)
{
    for (size_t i = 0; i < n_words; i++) {
        uint64_t less = 0, open = UINT64_MAX;
        int position = 63;
        for (int round = 0; round < SHOAL_RNG_FIXED_ROUNDS; round++, position--)
            compare_bit(&less, &open, shoal_rng_u64(rng), threshold, position);
        // Where the rest of the threshold is zero, an open lane's number is not below it: its bit is 0.
        while (open != 0 && position >= 0 && (threshold & (((uint64_t)2 << position) - 1)) != 0)
            compare_bit(&less, &open, shoal_rng_u64(rng), threshold, position--);
        words[i] = less;
    }
}

void shoal_rng_wipe(shoal_rng *rng)
{
    wipe(rng, sizeof *rng);
}
