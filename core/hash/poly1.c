// SPDX-License-Identifier: Apache-2.0
// Evaluates polynomials of degree two over the field of 2^61 - 1; see poly1.h.
#include "poly1.h"

#include "bytes.h"
#include "chacha20.h"

#define PRIME (((uint64_t)1 << 61) - 1)

typedef struct wide {
    uint64_t high, low;
} wide;

static inline wide multiply_wide(uint64_t x, uint64_t y)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 u128;
    u128 product = (u128)x * y;
    return (wide){(uint64_t)(product >> 64), (uint64_t)product};
#else
    uint64_t x0 = (uint32_t)x, x1 = x >> 32, y0 = (uint32_t)y, y1 = y >> 32;
    uint64_t low = x0 * y0, middle = x1 * y0 + (low >> 32), other = x0 * y1 + (uint32_t)middle;
    return (wide){x1 * y1 + (middle >> 32) + (other >> 32), other << 32 | (uint32_t)low};
#endif
}

// Reduces x, which is at most a little above 2 PRIME, to [0, PRIME). There is no branch because x
// may be secret.
static inline uint64_t reduce_once(uint64_t x)
{
    uint64_t less = x - PRIME;
    uint64_t borrowed = 0 - (less >> 63); // all ones where x < PRIME
    return (borrowed & x) | (~borrowed & less);
}

// Returns x y mod PRIME. x, y < 2^61, so the product is below 2^122 and high * 8 + low >> 61 below
// 2^61.
static inline uint64_t multiply_mod(uint64_t x, uint64_t y)
{
    wide p = multiply_wide(x, y);
    return reduce_once((p.low & PRIME) + (p.low >> 61 | p.high << 3));
}

uint64_t shoal_poly1_point(uint64_t item)
{
    return reduce_once((item & PRIME) + (item >> 61));
}

// Reduces 128 uniform bits to [0, PRIME), with 2^64 = 8 modulo PRIME. The result is off uniform by
// less than 2^-66.
static uint64_t coefficient(const uint8_t bytes[16])
{
    return reduce_once(shoal_poly1_point(load64_le(bytes)) +
                       multiply_mod(shoal_poly1_point(load64_le(bytes + 8)), 8));
}

void shoal_poly1_row(shoal_poly1 *row, const uint8_t seed[32], uint32_t j)
{
    uint8_t block[64];
    shoal_chacha20_derive(block, seed, j, "poly1 row   ");
    row->a = coefficient(block);
    row->b = coefficient(block + 16);
    row->c = coefficient(block + 32);
}

uint32_t shoal_poly1_hash(const shoal_poly1 *row, uint64_t point, uint32_t m)
{
    uint64_t y = reduce_once(multiply_mod(row->a, point) + row->b);
    y = reduce_once(multiply_mod(y, point) + row->c);
    wide p = multiply_wide(y, m);
    return (uint32_t)(p.high << 3 | p.low >> 61);
}
