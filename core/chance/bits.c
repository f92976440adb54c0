// SPDX-License-Identifier: Apache-2.0
// Draws noisy one-hot vectors, 64 coordinates at a time; see bits.h.
#include "bits.h"

#include "bytes.h"

shoal_err shoal_bits_check(const uint8_t *bits, uint32_t m)
{
    if (m % 8 != 0 && bits[m / 8] >> (m % 8) != 0) return SHOAL_ERR_RECORD;
    return SHOAL_OK;
}

// Words of coins that one call draws, because each call has a set-up cost.
#define WORDS_AT_ONCE 16

// Returns all ones if x is zero, else zero, without a branch.
static inline uint64_t mask_if_zero(uint64_t x)
{
    return ((x | (0 - x)) >> 63) - 1;
}

// Writes the low bits of a word: all 64, or as many as the vector has left.
static void store_bits(uint8_t *out, uint64_t word, uint32_t left)
{
    if (left >= 64) {
        store64_le(out, word);
        return;
    }
    uint8_t eight[8];
    store64_le(eight, word & (((uint64_t)1 << left) - 1));
    memcpy(out, eight, bits_size(left));
}

void shoal_bits_onehot(uint8_t *bits, uint32_t m, uint64_t item, uint64_t threshold, int flip,
                       uint64_t fair, shoal_rng *rng)
{
    uint64_t bit = (uint64_t)1 << (item & 63), coins[WORDS_AT_ONCE];
    for (uint32_t start = 0; start < m; start += 64) {
        uint32_t left = m - start, i = start / 64 % WORDS_AT_ONCE;
        if (i == 0)
            shoal_rng_bernoulli_words(rng, coins,
                                      left < 64 * WORDS_AT_ONCE ? (left + 63) / 64 : WORDS_AT_ONCE,
                                      threshold);
        uint64_t hot = bit & mask_if_zero((item >> 6) ^ (start >> 6));
        uint64_t word = flip ? coins[i] ^ hot : (coins[i] & ~hot) | (hot & (0 - fair));
        store_bits(bits + start / 8, word, left);
    }
    wipe(&bit, sizeof bit);
    wipe(coins, sizeof coins);
}
