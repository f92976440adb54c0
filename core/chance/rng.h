// SPDX-License-Identifier: Apache-2.0
// Randomness of the core: a ChaCha20 key stream (RFC 8439), read in order and seeded by the host
// with 32 bytes.
//
// The same seed gives the same draws on every build, for ever: the order in which each function
// consumes the stream is part of its contract. There is no global generator; every randomizer takes
// a `shoal_rng *`. The generator holds no interior pointer and may be copied; a copy repeats the
// original's draws.
#ifndef SHOAL_RNG_H
#define SHOAL_RNG_H

#include <stddef.h>
#include <stdint.h>

// The generator computes 8 blocks ahead by default and 16 for long records; the choice never
// changes the output. Where eight blocks run side by side they cost little more than one, and
// sixteen cost half as much again. The buffer also has room for the unused tail of the last blocks.
#define SHOAL_RNG_USUAL_BLOCKS 8
#define SHOAL_RNG_MANY_BLOCKS 16
#define SHOAL_RNG_BLOCKS (SHOAL_RNG_MANY_BLOCKS + 2)

typedef struct shoal_rng {
    uint32_t key[8];
    uint32_t nonce[2];  // stream number
    uint64_t block;     // next block of the stream
    uint32_t used;      // offset of the next byte in `buffer`
    uint32_t unused[3]; // aligns the buffer to 16 bytes, so that no draw straddles two cache lines
    uint8_t buffer[64 * SHOAL_RNG_BLOCKS]; // key stream computed ahead, up to the buffer's end
} shoal_rng;

// Starts stream 0 of `seed`.
//   seed: 32 secret, uniformly random bytes, used for nothing else
void shoal_rng_init(shoal_rng *rng, const uint8_t seed[32]);

// Starts stream number `stream` of `seed`. Streams of one seed are independent. The simulation uses
// one stream a device.
// Layout: ChaCha20 state words 12-13 hold the 64-bit block counter, words 14-15 the stream number,
// little-endian.
void shoal_rng_init_stream(shoal_rng *rng, const uint8_t seed[32], uint64_t stream);

// Fills out[0..len) with the next `len` bytes of the stream.
void shoal_rng_bytes(shoal_rng *rng, uint8_t *out, size_t len);

// Returns: the next 8 bytes of the stream, little-endian; uniform over [0, 2^64).
uint64_t shoal_rng_u64(shoal_rng *rng);

// Returns: a uniform number in [0, n), without bias, by rejection of u64 draws.
//   n: 1 .. 2^64-1; n = 1 consumes nothing
// Timing: depends on the draws and on n, which are public.
uint64_t shoal_rng_below(shoal_rng *rng, uint64_t n);

// Computes at once the blocks that n_words words of coins are likely to draw, as far as the buffer
// has room. Changes no draw. It is for callers that draw something else first: that draw would make
// eight blocks where sixteen are needed.
void shoal_rng_expect_words(shoal_rng *rng, size_t n_words);

// Returns: 1 with probability exactly threshold / 2^64, else 0. Consumes one u64 draw.
uint32_t shoal_rng_bernoulli(shoal_rng *rng, uint64_t threshold);

// Fills words with independent bits, each 1 with probability exactly threshold / 2^64.
//   words: n_words * 64 bits
// How: 64 lanes compare a uniform 64-bit number with the threshold, most significant bit first. One
// u64 draw gives the next bit of all lanes. The function always makes SHOAL_RNG_FIXED_ROUNDS draws,
// then more until every lane is decided or the threshold has no bit left.
// Timing: depends on the draws and the threshold only.
void shoal_rng_bernoulli_words(shoal_rng *rng, uint64_t *words, size_t n_words, uint64_t threshold);
#define SHOAL_RNG_FIXED_ROUNDS 6

// Overwrites the generator with zeros.
void shoal_rng_wipe(shoal_rng *rng);

#endif
