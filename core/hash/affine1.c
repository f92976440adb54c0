// SPDX-License-Identifier: Apache-2.0
// Evaluates affine maps over GF(2); see affine1.h.
#include "affine1.h"

#include "bytes.h"
#include "chacha20.h"

#define MASK (((uint32_t)1 << SHOAL_AFFINE1_BITS) - 1)
#define FIRST_WORDS 15u // rows of A that the first block holds; its last word is b

void shoal_affine1_row(shoal_affine1 *row, const uint8_t seed[32], uint32_t j, uint32_t m)
{
    uint8_t block[64];
    memset(row, 0, sizeof *row);
    while (m >> (row->bits + 1) != 0) row->bits++;
    shoal_chacha20_derive(block, seed, j, "affine1 row ");
    row->b = load32_le(block + 60) & (m - 1);
    for (uint32_t i = 0; i < row->bits && i < FIRST_WORDS; i++)
        row->a[i] = load32_le(block + (size_t)4 * i) & MASK;
    if (row->bits <= FIRST_WORDS) return;
    shoal_chacha20_derive(block, seed, j, "affine1 more");
    for (uint32_t i = FIRST_WORDS; i < row->bits; i++)
        row->a[i] = load32_le(block + (size_t)4 * (i - FIRST_WORDS)) & MASK;
}

uint32_t shoal_affine1_hash(const shoal_affine1 *row, uint32_t item)
{
    uint32_t column = row->b;
    for (uint32_t i = 0; i < row->bits; i++) column ^= shoal_parity(row->a[i] & item) << i;
    return column;
}
