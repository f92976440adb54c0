// SPDX-License-Identifier: Apache-2.0
// Hash family `poly1`: three-wise independent onto [m], for items of an open domain.
//
//     h_j(x) = floor( ((a_j x^2 + b_j x + c_j) mod P) * m / 2^61 ),     P = 2^61 - 1
//
// a_j, b_j, c_j are uniform in [0, P) up to 2^-66 (128 key bits reduced). They come from ChaCha20
// block number j under the recipe's seed, with the nonce "poly1 row   " (12 bytes).
//
// A polynomial of degree two over a field is exactly three-wise independent at distinct points. x
// is an item mod P, so two 64-bit fingerprints collide with probability about 2^-60. Bias onto [m]:
// every value has probability within 2^-61 of 1/m, a relative error of m 2^-61 at most (m <= 2^20:
// 2^-41).
#ifndef SHOAL_POLY1_H
#define SHOAL_POLY1_H

#include <stdint.h>

typedef struct shoal_poly1 {
    uint64_t a, b, c; // each in [0, 2^61 - 1)
} shoal_poly1;

// Derives row j's function from the recipe's seed.
void shoal_poly1_row(shoal_poly1 *row, const uint8_t seed[32], uint32_t j);

// Returns: the item as a point of the field, in [0, 2^61 - 1).
uint64_t shoal_poly1_point(uint64_t item);

// Returns: h(point) in [0, m).
//   point: from shoal_poly1_point
//   m: 1 .. 2^24
// Timing: constant in the point.
uint32_t shoal_poly1_hash(const shoal_poly1 *row, uint64_t point, uint32_t m);

#endif
