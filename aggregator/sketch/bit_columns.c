// SPDX-License-Identifier: Apache-2.0
// Vertical counting of bits; see bit_columns.h.
#include "bit_columns.h"

#include <string.h>

#include "bytes.h"

#define TREE 15      // vectors that one carry-save tree sums into four planes
#define TREES_MAX 17 // trees whose sums fit eight bits: 15 * 17 = 255

// sum and carry of three bits, in 64 columns at once
static inline void full_add(uint64_t *carry, uint64_t *sum, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t u = a ^ b;
    *carry = (a & b) | (u & c);
    *sum = u ^ c;
}

// Sums 15 words column by column into four bit planes.
static inline void sum_fifteen(uint64_t planes[4], const uint64_t x[TREE])
{
    uint64_t s[5], c[7], d[3], t[2];
    for (int i = 0; i < 5; i++) full_add(&c[i], &s[i], x[3 * i], x[3 * i + 1], x[3 * i + 2]);
    full_add(&c[5], &t[0], s[0], s[1], s[2]);
    full_add(&c[6], &planes[0], t[0], s[3], s[4]);
    full_add(&d[0], &t[0], c[0], c[1], c[2]);
    full_add(&d[1], &t[1], c[3], c[4], c[5]);
    full_add(&d[2], &planes[1], t[0], t[1], c[6]);
    full_add(&planes[3], &planes[2], d[0], d[1], d[2]);
}

// Spreads the eight bits of a byte over eight byte lanes, bit i to lane i: the multiplication copies the byte into each
// lane, the mask keeps bit i of lane i, and adding 127 carries it to the lane's top (128 + 127 does not leave the lane).
static inline uint64_t spread(uint64_t byte)
{
    uint64_t picked = (byte * 0x0101010101010101u) & 0x8040201008040201u;
    return (picked + 0x7f7f7f7f7f7f7f7fu) >> 7 & 0x0101010101010101u;
}

// The lanes of one word's 64 columns, from its planes.
static inline void add_planes(uint64_t lanes[8], const uint64_t planes[4])
{
    for (int byte = 0; byte < 8; byte++) {
        uint64_t sum = 0;
        for (int p = 0; p < 4; p++) sum += spread(planes[p] >> (8 * byte) & 255) << p;
        lanes[byte] += sum;
    }
}

static inline uint64_t load_word(const uint8_t *from, uint32_t len)
{
    uint8_t bytes[8] = {0};
    if (len >= 8) return load64_le(from);
    memcpy(bytes, from, len);
    return load64_le(bytes);
}

static void add_lanes(uint32_t *counts, uint32_t columns, const uint64_t lanes[8])
{
    for (uint32_t i = 0; i < columns; i++) counts[i] += (uint32_t)(lanes[i / 8] >> (8 * (i % 8)) & 255);
}

// Up to 255 vectors, 64 columns at a time.
static void add_some(uint32_t *counts, uint32_t m, const uint8_t *const *vectors, uint32_t n)
{
    uint32_t size = (m + 7) / 8;
    for (uint32_t at = 0; at < size; at += 8) {
        uint64_t lanes[8] = {0};
        uint32_t columns = m - 8 * at < 64 ? m - 8 * at : 64;
        for (uint32_t first = 0; first < n; first += TREE) {
            uint64_t x[TREE] = {0}, planes[4];
            uint32_t left = n - first < TREE ? n - first : TREE;
            for (uint32_t i = 0; i < left; i++) x[i] = load_word(vectors[first + i] + at, size - at);
            sum_fifteen(planes, x);
            add_planes(lanes, planes);
        }
        add_lanes(counts + 8 * at, columns, lanes);
    }
}

void agg_bit_columns_add(uint32_t *counts, uint32_t m, const uint8_t *const *vectors, uint32_t n)
{
    while (n > 0) {
        uint32_t some = n < TREE * TREES_MAX ? n : TREE * TREES_MAX;
        add_some(counts, m, vectors, some);
        vectors += some;
        n -= some;
    }
}
