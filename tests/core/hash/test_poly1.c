// SPDX-License-Identifier: Apache-2.0
// poly1: the field arithmetic against a slow reference, the map onto [m], and independence seen in
// pair counts.
#include "poly1.h"

#include <math.h>

#include "check.h"
#include "rng.h"

#define PRIME (((uint64_t)1 << 61) - 1)

// x * y mod PRIME by doubling: slow, and with nothing in common with the code under test.
static uint64_t slow_multiply(uint64_t x, uint64_t y)
{
    uint64_t sum = 0;
    for (int bit = 60; bit >= 0; bit--) {
        sum = sum * 2 % PRIME;
        if (y >> bit & 1) sum = (sum + x) % PRIME;
    }
    return sum;
}

// floor(y * m / 2^61) by long multiplication of two halves.
static uint32_t slow_scale(uint64_t y, uint32_t m)
{
    uint64_t low = (y & 0xffffffff) * m, high = (y >> 32) * m;
    return (uint32_t)((high + (low >> 32)) >> 29);
}

static void matches_reference(void)
{
    const uint64_t edges[] = {0,
                              1,
                              2,
                              PRIME - 2,
                              PRIME - 1,
                              PRIME,
                              PRIME + 1,
                              2 * PRIME,
                              UINT64_MAX - 1,
                              UINT64_MAX,
                              (uint64_t)1 << 32};
    const uint32_t ms[] = {1, 2, 3, 1000, 1024, 65535, 65536, 1u << 24};
    uint8_t seed[32] = {1};
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    for (uint32_t i = 0; i < 2000; i++) {
        shoal_poly1 row = {shoal_rng_u64(&rng) % PRIME, shoal_rng_u64(&rng) % PRIME,
                           shoal_rng_u64(&rng) % PRIME};
        uint64_t item = i < 11 ? edges[i] : shoal_rng_u64(&rng);
        if (i % 7 == 0) row.a = PRIME - 1;
        if (i % 11 == 0) row.b = row.c = PRIME - 1;
        uint64_t point = item % PRIME;
        CHECK(shoal_poly1_point(item) == point);
        uint64_t y =
            (slow_multiply(slow_multiply(row.a, point), point) + slow_multiply(row.b, point)) %
            PRIME;
        y = (y + row.c) % PRIME;
        for (uint32_t k = 0; k < 8; k++)
            CHECK(shoal_poly1_hash(&row, point, ms[k]) == slow_scale(y, ms[k]));
    }
}

// Rows are a function of (seed, j) and differ; coefficients are in the field.
static void rows(void)
{
    uint8_t seed[32] = {2}, other[32] = {3};
    shoal_poly1 a, b, c;
    shoal_poly1_row(&a, seed, 7);
    shoal_poly1_row(&b, seed, 7);
    CHECK(a.a == b.a && a.b == b.b && a.c == b.c);
    shoal_poly1_row(&b, seed, 8);
    shoal_poly1_row(&c, other, 7);
    CHECK(a.a != b.a && a.a != c.a && a.b != b.b && a.c != b.c);
    for (uint32_t j = 0; j < 1000; j++) {
        shoal_poly1_row(&a, seed, j);
        CHECK(a.a < PRIME && a.b < PRIME && a.c < PRIME);
    }
}

// Over 20,000 rows, three fixed items with m = 4: all 64 triples of columns equally often.
// Chi-square with 63 degrees of freedom has mean 63 and sd 11.2; 63 +- 56 is 5 sd. A family that is
// only two-wise independent (a = 0) gives far more.
static void triples_are_uniform(void)
{
    const uint64_t items[3] = {
        11, 22, 33}; // an arithmetic progression: the case that linear functions get wrong
    uint32_t counts[64] = {0};
    uint8_t seed[32] = {4};
    double chi2 = 0, expected = 20000.0 / 64;
    for (uint32_t j = 0; j < 20000; j++) {
        shoal_poly1 row;
        shoal_poly1_row(&row, seed, j);
        uint32_t cell = 0;
        for (int i = 0; i < 3; i++) cell = cell * 4 + shoal_poly1_hash(&row, items[i], 4);
        counts[cell]++;
    }
    for (int cell = 0; cell < 64; cell++)
        chi2 += (counts[cell] - expected) * (counts[cell] - expected) / expected;
    CHECK(fabs(chi2 - 63) < 56);
}

int main(void)
{
    matches_reference();
    rows();
    triples_are_uniform();
    return check_summary();
}
