// SPDX-License-Identifier: Apache-2.0
// Hash family `affine1`: exactly three-wise independent onto [m], m a power of two, for items that
// are indices of up to 24 bits.
//
//     bit i of h_j(x) = <a_ji, x> + b_ji over GF(2),   i = 0 .. log2(m) - 1
//
// Any three distinct points are affinely independent over GF(2), so a uniformly random affine map
// takes them to three independent uniform values. The three-wise independence therefore has no
// error term. Because the map is affine, one Walsh-Hadamard transform of the domain answers for
// every item at once (aggregator/estimate/whole_domain.h).
//
// Keys come from the row's ChaCha20 blocks under the recipe's seed, read as little-endian words.
// The first block has the nonce "affine1 row "; the second, for i >= 15, "affine1 more". a_ji is
// word i (word i - 15 of the second block), masked to 24 bits; b_j is word 15 of the first block.
#ifndef SHOAL_AFFINE1_H
#define SHOAL_AFFINE1_H

#include <stdint.h>

#define SHOAL_AFFINE1_BITS 24     // bits of an item
#define SHOAL_AFFINE1_OUT_BITS 20 // most bits of a column

typedef struct shoal_affine1 {
    uint32_t bits;                      // log2(m)
    uint32_t b;                         // below m
    uint32_t a[SHOAL_AFFINE1_OUT_BITS]; // each below 2^24; zero from `bits` on
} shoal_affine1;

// Derives row j's map from the recipe's seed.
//   m: a power of two, 2 .. 2^20
void shoal_affine1_row(shoal_affine1 *row, const uint8_t seed[32], uint32_t j, uint32_t m);

// Returns: h(item) in [0, m).
//   item: below 2^24 (higher bits are not read)
// Timing: constant in the item.
uint32_t shoal_affine1_hash(const shoal_affine1 *row, uint32_t item);

// Returns: parity of the bits of x, without a branch.
static inline uint32_t shoal_parity(uint32_t x)
{
    x ^= x >> 16;
    x ^= x >> 8;
    x ^= x >> 4;
    x ^= x >> 2;
    x ^= x >> 1;
    return x & 1;
}

#endif
