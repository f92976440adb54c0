// SPDX-License-Identifier: Apache-2.0
// Vertical counting of bits; see bit_columns.h.
//
// A number per column is held as eight bit planes: bit i of the numbers of 64 columns is one word. Carry-save adders sum 15
// vectors into four planes, which are added to the eight; after at most 255 vectors the planes are turned into bytes, one a
// column, and added to the 32-bit counts. Loops over WORDS are independent, so that a compiler can make vectors of them.
#include "bit_columns.h"

#include <string.h>

#include "bytes.h"

#define TREE 15u  // vectors that one tree of adders sums into four planes
#define MOST 255u // vectors that eight planes can count
#define WORDS 4u  // 64-column words worked on at once
#define PLANES 8u

typedef struct word_set {
    uint64_t w[WORDS];
} word_set;

// sum and carry of three bits, column by column
static inline void full_add(word_set *carry, word_set *sum, const word_set *a, const word_set *b, const word_set *c)
{
    for (unsigned i = 0; i < WORDS; i++) {
        uint64_t x = a->w[i], y = b->w[i], z = c->w[i], u = x ^ y;
        carry->w[i] = (x & y) | (u & z);
        sum->w[i] = u ^ z;
    }
}

// sum and carry of two bits
static inline void half_add(word_set *carry, word_set *sum, const word_set *a, const word_set *b)
{
    for (unsigned i = 0; i < WORDS; i++) {
        uint64_t x = a->w[i], y = b->w[i];
        carry->w[i] = x & y;
        sum->w[i] = x ^ y;
    }
}

// Sums 15 sets of bits into four planes.
static inline void sum_tree(word_set planes[4], const word_set x[TREE])
{
    word_set s[5], c[7], d[3], t[2];
    for (int i = 0; i < 5; i++) full_add(&c[i], &s[i], &x[3 * i], &x[3 * i + 1], &x[3 * i + 2]);
    full_add(&c[5], &t[0], &s[0], &s[1], &s[2]);
    full_add(&c[6], &planes[0], &t[0], &s[3], &s[4]);
    full_add(&d[0], &t[0], &c[0], &c[1], &c[2]);
    full_add(&d[1], &t[1], &c[3], &c[4], &c[5]);
    full_add(&d[2], &planes[1], &t[0], &t[1], &c[6]);
    full_add(&planes[3], &planes[2], &d[0], &d[1], &d[2]);
}

// Adds a number of four planes to one of eight. 255 = 2^8 - 1 vectors at most have come: no carry leaves the last plane.
static inline void add_planes(word_set sum[PLANES], const word_set four[4])
{
    word_set carry;
    half_add(&carry, &sum[0], &sum[0], &four[0]);
    for (unsigned i = 1; i < 4; i++) full_add(&carry, &sum[i], &sum[i], &four[i], &carry);
    for (unsigned i = 4; i < PLANES; i++) half_add(&carry, &sum[i], &sum[i], &carry);
}

// Swaps the bits of x under mask << shift with those of y under mask.
static inline void swap_bits(uint64_t *x, uint64_t *y, unsigned shift, uint64_t mask)
{
    uint64_t t = (*x >> shift ^ *y) & mask;
    *y ^= t;
    *x ^= t << shift;
}

// Byte b of plane p becomes byte p of word b: an 8 by 8 transpose of bytes, halves first.
static inline void transpose_bytes(uint64_t x[8])
{
    for (unsigned i = 0; i < 4; i++) swap_bits(&x[i], &x[i + 4], 32, 0x00000000ffffffffu);
    for (unsigned i = 0; i < 8; i += i % 4 == 1 ? 3 : 1) swap_bits(&x[i], &x[i + 2], 16, 0x0000ffff0000ffffu);
    for (unsigned i = 0; i < 8; i += 2) swap_bits(&x[i], &x[i + 1], 8, 0x00ff00ff00ff00ffu);
}

// Bit c of byte p becomes bit p of byte c: an 8 by 8 transpose of bits within a word.
static inline uint64_t transpose_bits(uint64_t x)
{
    uint64_t t = (x ^ x >> 7) & 0x00aa00aa00aa00aau;
    x ^= t ^ t << 7;
    t = (x ^ x >> 14) & 0x0000cccc0000ccccu;
    x ^= t ^ t << 14;
    t = (x ^ x >> 28) & 0x00000000f0f0f0f0u;
    return x ^ t ^ t << 28;
}

// Adds the planes' numbers to the counts of up to 64 columns.
static void flush_word(uint32_t *counts, uint32_t columns, const word_set planes[PLANES], unsigned word)
{
    uint64_t x[8];
    uint8_t numbers[64];
    for (unsigned p = 0; p < PLANES; p++) x[p] = planes[p].w[word];
    transpose_bytes(x);
    for (unsigned b = 0; b < 8; b++) store64_le(numbers + 8 * b, transpose_bits(x[b]));
    if (columns >= 64) {
        for (unsigned i = 0; i < 64; i++) counts[i] += numbers[i];
        return;
    }
    for (unsigned i = 0; i < columns; i++) counts[i] += numbers[i];
}

static inline word_set load_words(const uint8_t *from, uint32_t len)
{
    word_set set;
    uint8_t padded[8 * WORDS] = {0};
    if (len < sizeof padded) {
        memcpy(padded, from, len);
        from = padded;
    }
    for (unsigned i = 0; i < WORDS; i++) set.w[i] = load64_le(from + 8 * i);
    return set;
}

// Up to MOST vectors.
static void add_some(uint32_t *counts, uint32_t m, const uint8_t *const *vectors, uint32_t n)
{
    uint32_t size = (m + 7) / 8;
    for (uint32_t at = 0; at < size; at += 8 * WORDS) {
        word_set planes[PLANES];
        memset(planes, 0, sizeof planes);
        for (uint32_t first = 0; first < n; first += TREE) {
            word_set x[TREE], four[4];
            uint32_t left = n - first < TREE ? n - first : TREE;
            for (uint32_t i = 0; i < left; i++) x[i] = load_words(vectors[first + i] + at, size - at);
            if (left < TREE) memset(&x[left], 0, (TREE - left) * sizeof x[0]);
            sum_tree(four, x);
            add_planes(planes, four);
        }
        for (unsigned word = 0; word < WORDS && 8 * at + 64 * word < m; word++)
            flush_word(counts + 8 * at + 64 * word, m - 8 * at - 64 * word, planes, word);
    }
}

void agg_bit_columns_add(uint32_t *counts, uint32_t m, const uint8_t *const *vectors, uint32_t n)
{
    while (n > 0) {
        uint32_t some = n < MOST ? n : MOST;
        add_some(counts, m, vectors, some);
        vectors += some;
        n -= some;
    }
}
