// SPDX-License-Identifier: Apache-2.0
// Vertical counting of bits in portable C, 256 columns at a time: the reference of all variants.
// The algorithm is in bit_columns_body.h. Iterations of the loops over WORDS are independent, so
// that a compiler can vectorize them.
#include "bit_columns.h"

#include "bytes.h"

#define WORDS 4u // words of 64 columns that are worked on at once
#define VECTOR_BYTES (8u * WORDS)

typedef struct vector {
    uint64_t w[WORDS];
} vector;

static inline vector no_bits(void)
{
    return (vector){{0}};
}

static inline vector load_whole(const uint8_t *from)
{
    vector x;
    for (unsigned i = 0; i < WORDS; i++) x.w[i] = load64_le(from + 8 * i);
    return x;
}

static inline void store_whole(uint8_t *to, const vector *x)
{
    for (unsigned i = 0; i < WORDS; i++) store64_le(to + 8 * i, x->w[i]);
}

static inline vector load_part(const uint8_t *from, uint32_t len)
{
    vector x = no_bits();
    uint32_t words = len / 8;
    for (unsigned i = 0; i < words; i++) x.w[i] = load64_le(from + 8 * i);
    for (uint32_t b = 8 * words; b < len; b++) x.w[words] |= (uint64_t)from[b] << 8 * (b % 8);
    return x;
}

static inline void full_add(vector *carry, vector *sum, const vector *a, const vector *b,
                            const vector *c)
{
    for (unsigned i = 0; i < WORDS; i++) {
        uint64_t x = a->w[i], y = b->w[i], z = c->w[i], u = x ^ y;
        carry->w[i] = (x & y) | (u & z);
        sum->w[i] = u ^ z;
    }
}

static inline void half_add(vector *carry, vector *sum, const vector *a, const vector *b)
{
    for (unsigned i = 0; i < WORDS; i++) {
        uint64_t x = a->w[i], y = b->w[i];
        carry->w[i] = x & y;
        sum->w[i] = x ^ y;
    }
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
    for (unsigned i = 0; i < 8; i += i % 4 == 1 ? 3 : 1)
        swap_bits(&x[i], &x[i + 2], 16, 0x0000ffff0000ffffu);
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

// Adds the counters of up to 64 columns to their counts.
static inline void add_word(uint32_t *counts, uint32_t columns, const vector *planes, unsigned word)
{
    uint64_t x[8];
    uint8_t numbers[64];
    for (unsigned p = 0; p < 8; p++) x[p] = planes[p].w[word];
    transpose_bytes(x);
    for (unsigned b = 0; b < 8; b++) store64_le(numbers + 8 * b, transpose_bits(x[b]));
    if (columns >= 64) {
        for (unsigned i = 0; i < 64; i++) counts[i] += numbers[i];
        return;
    }
    for (unsigned i = 0; i < columns; i++) counts[i] += numbers[i];
}

static inline void add_numbers(uint32_t *counts, uint32_t columns, const vector *planes)
{
    for (unsigned word = 0; word < WORDS && 64 * word < columns; word++)
        add_word(counts + 64 * word, columns - 64 * word, planes, word);
}

#include "bit_columns_body.h"

static void add(uint32_t *counts, uint32_t m, const uint8_t *const *vectors, uint32_t n)
{
    count_vectors(counts, m, vectors, n);
}

static void collect(uint8_t *counters, uint32_t m, const uint8_t *const *vectors, uint32_t n)
{
    collect_vectors(counters, m, vectors, n);
}

static void drain(uint32_t *counts, uint32_t m, uint8_t *counters)
{
    drain_counters(counts, m, counters);
}

const agg_bit_columns agg_bit_columns_portable = {
    .add = add, .collect = collect, .drain = drain, .block_min = 64};
