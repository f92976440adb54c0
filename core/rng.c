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
    shoal_chacha20_blocks(rng->buffer, SHOAL_RNG_BLOCKS, rng->key, rng->block, rng->nonce);
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

// 64 lanes on their way: decided for 1, or for 0, or still open.
typedef struct lanes {
    uint64_t less, open;
} lanes;

// Bit `position` of the threshold, in every lane.
static inline uint64_t bit_of(uint64_t threshold, int position)
{
    return 0 - (threshold >> position & 1);
}

// One round: one bit of 64 uniform numbers, one a lane. A lane whose bit is below the threshold's is decided
// for 1, above it for 0, equal stays open.
static inline void compare_bit(lanes *l, uint64_t random, uint64_t bit)
{
    uint64_t still = l->open & ~(random ^ bit);
    l->less |= (l->open ^ still) & bit;
    l->open = still;
}

// Rounds that are made at once, if the buffer has the draws of so many: 15 words of 16 are decided by then.
#define ROUNDS_AHEAD 10

// A compiler that is told to make code small (-Os, -Oz) gets the one loop that suffices.
#ifdef __OPTIMIZE_SIZE__
#define IS_AHEAD 0
#else
#define IS_AHEAD 1
#endif

// The rounds of most words without a branch on how many there are. Those behind the fixed ones change nothing once no
// lane is open; their draws are then not taken.
static inline void compare_ahead(lanes *l, shoal_rng *rng, const uint64_t bits[ROUNDS_AHEAD])
{
    const uint8_t *from = rng->buffer + rng->used;
    uint32_t used = 8 * SHOAL_RNG_FIXED_ROUNDS;
    for (int round = 0; round < ROUNDS_AHEAD; round++) {
        uint32_t is_drawn = round >= SHOAL_RNG_FIXED_ROUNDS && l->open != 0;
        used += 8 * is_drawn;
        compare_bit(l, load64_le(from + 8 * round), bits[round]);
    }
    rng->used += used;
}

// Whether the threshold has a bit at or below a position. Where it has none, an open lane's number is not below it: its
// bit is 0.
static inline int has_bits_below(uint64_t threshold, int position)
{
    return position >= 0 && (threshold & (((uint64_t)2 << position) - 1)) != 0;
}

void shoal_rng_bernoulli_words(shoal_rng *rng, uint64_t *words, size_t n_words, uint64_t threshold)
{
    uint64_t bits[ROUNDS_AHEAD];
    for (int round = 0; round < ROUNDS_AHEAD; round++) bits[round] = bit_of(threshold, 63 - round);
    int is_long = IS_AHEAD && has_bits_below(threshold, 64 - ROUNDS_AHEAD);
    for (size_t i = 0; i < n_words; i++) {
        lanes l = {0, UINT64_MAX};
        int position = 63 - SHOAL_RNG_FIXED_ROUNDS;
        if (is_long && sizeof rng->buffer - rng->used >= 8 * ROUNDS_AHEAD) {
            compare_ahead(&l, rng, bits);
            position = 63 - ROUNDS_AHEAD;
        } else {
            for (int round = 0; round < SHOAL_RNG_FIXED_ROUNDS; round++)
                compare_bit(&l, shoal_rng_u64(rng), bits[round]);
        }
        for (; l.open != 0 && has_bits_below(threshold, position); position--)
            compare_bit(&l, shoal_rng_u64(rng), bit_of(threshold, position));
        words[i] = l.less;
    }
}

void shoal_rng_wipe(shoal_rng *rng)
{
    wipe(rng, sizeof *rng);
}
