// SPDX-License-Identifier: Apache-2.0
// affine1: three-wise independence by enumerating all maps of a small domain, bits against a slow
// reference, and rows.
#include "affine1.h"

#include <string.h>

#include "check.h"
#include "rng.h"

// Every affine map of three bits onto two, through the real hash: each triple of columns comes
// equally often at any three distinct points, which is what the papers' covariance lemmas need. 2^8
// maps over 4^3 triples: four each.
static void three_wise(void)
{
    for (uint32_t x = 0; x < 8; x++)
        for (uint32_t y = 0; y < x; y++)
            for (uint32_t z = 0; z < y; z++) {
                uint32_t seen[64] = {0};
                for (uint32_t map = 0; map < 256; map++) {
                    shoal_affine1 row = {.bits = 2, .b = map & 3, .a = {map >> 2 & 7, map >> 5}};
                    seen[shoal_affine1_hash(&row, x) | shoal_affine1_hash(&row, y) << 2 |
                         shoal_affine1_hash(&row, z) << 4]++;
                }
                for (uint32_t i = 0; i < 64; i++) CHECK(seen[i] == 4);
            }
}

static uint32_t slow_hash(const shoal_affine1 *row, uint32_t item)
{
    uint32_t column = 0;
    for (uint32_t i = 0; i < row->bits; i++) {
        uint32_t bit = row->b >> i & 1;
        for (uint32_t l = 0; l < 24; l++) bit += (row->a[i] >> l & 1) * (item >> l & 1);
        column += (bit & 1) << i;
    }
    return column;
}

static void matches_reference(void)
{
    uint8_t seed[32] = {1};
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    for (uint32_t bits = 1; bits <= SHOAL_AFFINE1_OUT_BITS; bits++)
        for (uint32_t j = 0; j < 20; j++) {
            shoal_affine1 row;
            shoal_affine1_row(&row, seed, j * 1000003, 1u << bits);
            CHECK(row.bits == bits && row.b < 1u << bits);
            for (uint32_t i = 0; i < SHOAL_AFFINE1_OUT_BITS; i++)
                CHECK(i < bits ? row.a[i] < 1u << 24 : row.a[i] == 0);
            for (uint32_t i = 0; i < 20; i++) {
                uint32_t item = i == 0   ? 0
                                : i == 1 ? (1u << 24) - 1
                                         : (uint32_t)shoal_rng_below(&rng, 1u << 24);
                CHECK(shoal_affine1_hash(&row, item) == slow_hash(&row, item));
            }
        }
}

// Rows are a function of (seed, j); a map onto fewer columns is the same map cut off; key bits are
// fair (5 sd).
static void rows(void)
{
    uint8_t seed[32] = {2}, other[32] = {3};
    shoal_affine1 a, b;
    shoal_affine1_row(&a, seed, 7, 1u << 20);
    shoal_affine1_row(&b, seed, 7, 1u << 20);
    CHECK(memcmp(&a, &b, sizeof a) == 0);
    shoal_affine1_row(&b, seed, 7, 1u << 17);
    CHECK(memcmp(a.a, b.a, 17 * sizeof a.a[0]) == 0 && b.b == (a.b & ((1u << 17) - 1)));
    shoal_affine1_row(&b, seed, 8, 1u << 20);
    CHECK(memcmp(a.a, b.a, sizeof a.a) != 0);
    shoal_affine1_row(&b, other, 7, 1u << 20);
    CHECK(memcmp(a.a, b.a, sizeof a.a) != 0);
    for (uint32_t i = 0; i < 20; i++)
        for (uint32_t l = 0; l < i; l++)
            CHECK(a.a[i] != a.a[l]); // no word of the key stream serves twice
    uint32_t ones[21] = {0};
    for (uint32_t j = 0; j < 400; j++) {
        shoal_affine1_row(&a, seed, j, 1u << 20);
        for (uint32_t i = 0; i < 20; i++)
            for (uint32_t l = 0; l < 24; l++) ones[i] += a.a[i] >> l & 1;
        for (uint32_t i = 0; i < 20; i++) ones[20] += a.b >> i & 1;
    }
    for (uint32_t i = 0; i < 20; i++)
        CHECK(ones[i] > 4800 - 245 && ones[i] < 4800 + 245); // of 9600: sd 49
    CHECK(ones[20] > 4000 - 224 && ones[20] < 4000 + 224);   // of 8000: sd 45
}

int main(void)
{
    three_wise();
    matches_reference();
    rows();
    return check_summary();
}
