// SPDX-License-Identifier: Apache-2.0
// Implements the seeded stream and exact draws from it; see rng.h.
#include "rng.h"

#include <stdbool.h>

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

// Number of Bernoulli rounds that are computed at once. After 10 rounds 15 words of 16 are decided.
#define ROUNDS_AHEAD 10

// Returns the number of bytes in the buffer that no draw has used.
static uint32_t left_of(const shoal_rng *rng)
{
    return (uint32_t)sizeof rng->buffer - rng->used;
}

// Appends n blocks to the unused bytes. The caller has checked that the buffer has room.
static void make_blocks(shoal_rng *rng, uint32_t n)
{
    uint32_t left = left_of(rng), start = (uint32_t)sizeof rng->buffer - 64 * n;
    memmove(rng->buffer + start - left, rng->buffer + rng->used, left);
    rng->used = start - left;
    shoal_chacha20_blocks(rng->buffer + start, n, rng->key, rng->block, rng->nonce);
    rng->block += n;
}

// Generates about one block for each of n_words words of coins, as far as the buffer has room. A
// single block is for the last word.
static void make_words(shoal_rng *rng, size_t n_words)
{
    uint32_t room = rng->used / 64;
    if (n_words > SHOAL_RNG_USUAL_BLOCKS && room >= SHOAL_RNG_MANY_BLOCKS) {
        make_blocks(rng, SHOAL_RNG_MANY_BLOCKS);
    } else if (n_words > 1 && room >= SHOAL_RNG_USUAL_BLOCKS) {
        make_blocks(rng, SHOAL_RNG_USUAL_BLOCKS);
    } else if (room >= 1) {
        make_blocks(rng, 1);
    }
}

void shoal_rng_expect_words(shoal_rng *rng, size_t n_words)
{
    if (left_of(rng) < 8 * ROUNDS_AHEAD) make_words(rng, n_words);
}

void shoal_rng_bytes(shoal_rng *rng, uint8_t *out, size_t len)
{
    while (len > 0) {
        if (left_of(rng) == 0) make_blocks(rng, SHOAL_RNG_USUAL_BLOCKS);
        size_t n = left_of(rng);
        if (n > len) n = len;
        memcpy(out, rng->buffer + rng->used, n);
        rng->used += (uint32_t)n;
        out += n;
        len -= n;
    }
}

uint64_t shoal_rng_u64(shoal_rng *rng)
{
    if (left_of(rng) >= 8) {
        uint64_t x = load64_le(rng->buffer + rng->used);
        rng->used += 8;
        return x;
    }
    uint8_t eight[8]; // this draw straddles two refills, after an odd number of bytes
    shoal_rng_bytes(rng, eight, sizeof eight);
    uint64_t x = load64_le(eight);
    wipe(eight, sizeof eight);
    return x;
}

uint64_t shoal_rng_below(shoal_rng *rng, uint64_t n)
{
    if (n <= 1) return 0;
    // The top 2^64 mod n values would favour small residues, so they are drawn again.
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

// Comparison state of 64 lanes: a lane is decided for 1, decided for 0, or still open.
typedef struct lanes {
    uint64_t less, open;
} lanes;

// Returns bit `position` of the threshold, copied to every lane.
static inline uint64_t bit_of(uint64_t threshold, int position)
{
    return 0 - (threshold >> position & 1);
}

// Compares one bit of 64 uniform numbers, one number a lane, with the threshold's bit. A lane with
// the smaller bit is decided for 1, with the larger bit for 0; a lane with an equal bit stays open.
static inline void compare_bit(lanes *l, uint64_t random, uint64_t bit)
{
    uint64_t still = l->open & ~(random ^ bit);
    l->less |= (l->open ^ still) & bit;
    l->open = still;
}

// Builds for size (-Os, -Oz) use the simple loop alone.
#ifdef __OPTIMIZE_SIZE__
#define IS_AHEAD 0
#else
#define IS_AHEAD 1
#endif

// The threshold's first bits, each copied to all lanes, in the form that compare_ahead needs.
typedef struct rounds {
    uint64_t zero[ROUNDS_AHEAD];     // all ones if the bit is 0
    uint64_t turn[ROUNDS_AHEAD + 1]; // all ones if the bit differs from the bit before; the
                                     // bits before the first and after the last are 0
} rounds;

static void rounds_of(rounds *r, uint64_t threshold)
{
    uint64_t before = 0;
    for (int round = 0; round < ROUNDS_AHEAD; round++) {
        uint64_t bit = bit_of(threshold, 63 - round);
        r->zero[round] = ~bit;
        r->turn[round] = bit ^ before;
        before = bit;
    }
    r->turn[ROUNDS_AHEAD] = before;
}

// Runs ROUNDS_AHEAD rounds without a branch on the number that a word needs. Once no lane is open,
// later rounds change nothing and their draws are not consumed. A lane that a threshold bit 1
// decides is open before that round and closed after it. `less` is therefore the XOR of `open`
// before and after these rounds, in which neighbouring terms cancel.
// Returns: the bytes consumed.
static inline uint32_t compare_ahead(lanes *l, const uint8_t *from, const rounds *r)
{
    uint32_t taken = SHOAL_RNG_FIXED_ROUNDS;
    for (int round = 0; round < ROUNDS_AHEAD; round++) {
        if (round >= SHOAL_RNG_FIXED_ROUNDS) taken += l->open != 0;
        l->less ^= l->open & r->turn[round];
        l->open &= load64_le(from + 8 * round) ^ r->zero[round];
    }
    l->less ^= l->open & r->turn[ROUNDS_AHEAD];
    return 8 * taken;
}

// Returns whether the threshold has a 1 bit at or below `position`. If it has none, an open lane's
// number is not below the threshold, so that lane's result is 0.
static inline bool has_bits_below(uint64_t threshold, int position)
{
    return position >= 0 && (threshold & (((uint64_t)2 << position) - 1)) != 0;
}

// Runs the rounds from `position` on, one by one.
static void compare_rest(lanes *l, shoal_rng *rng, uint64_t threshold, int position)
{
    for (; l->open != 0 && has_bits_below(threshold, position); position--)
        compare_bit(l, shoal_rng_u64(rng), bit_of(threshold, position));
}

// Draws words with compare_ahead. `used` is a local variable because each word waits for the
// position at which the last one ended; a trip through memory would delay it.
static void words_ahead(shoal_rng *rng, uint64_t *words, size_t n_words, uint64_t threshold)
{
    rounds ahead;
    rounds_of(&ahead, threshold);
    uint32_t used = rng->used;
    for (size_t i = 0; i < n_words; i++) {
        lanes l = {0, UINT64_MAX};
        while (sizeof rng->buffer - used < 8 * ROUNDS_AHEAD) {
            rng->used = used;
            make_words(rng, n_words - i);
            used = rng->used;
        }
        used += compare_ahead(&l, rng->buffer + used, &ahead);
        if (l.open != 0) {
            rng->used = used;
            compare_rest(&l, rng, threshold, 63 - ROUNDS_AHEAD);
            used = rng->used;
        }
        words[i] = l.less;
    }
    rng->used = used;
}

void shoal_rng_bernoulli_words(shoal_rng *rng, uint64_t *words, size_t n_words, uint64_t threshold)
{
    if (IS_AHEAD && has_bits_below(threshold, 64 - ROUNDS_AHEAD)) {
        words_ahead(rng, words, n_words, threshold);
        return;
    }
    for (size_t i = 0; i < n_words; i++) {
        lanes l = {0, UINT64_MAX};
        for (int round = 0; round < SHOAL_RNG_FIXED_ROUNDS; round++)
            compare_bit(&l, shoal_rng_u64(rng), bit_of(threshold, 63 - round));
        compare_rest(&l, rng, threshold, 63 - SHOAL_RNG_FIXED_ROUNDS);
        words[i] = l.less;
    }
}

void shoal_rng_wipe(shoal_rng *rng)
{
    wipe(rng, sizeof *rng);
}
