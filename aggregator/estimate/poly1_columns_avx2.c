// SPDX-License-Identifier: Apache-2.0
// Computes the columns of four points at a time with AVX2, whose widest product takes factors of 32
// bits; see poly1_columns.h.
//
// Numbers of the field are split at bit 31: x = x0 + 2^31 x1 with x0 < 2^31 and x1 < 2^30. Because
// 2^62 = 2 modulo P,
//
//     a x = (a0 x0 + 2 a1 x1) + 2^31 (a0 x1 + a1 x0)
//
// and 2^31 M = (M mod 2^30) 2^31 + floor(M / 2^30) for the second bracket M. The sum of both
// products and c stays below 2^64: 2 (2^31 - 1)^2 + 4 (2^30 - 1)^2 + (2^61 - 2) + (2^61 - 2^31) +
// 2^33 < 2^64.
#include <immintrin.h>

#include "poly1_columns.h"

#define LANES ((size_t)4)
#define PRIME (((uint64_t)1 << 61) - 1)
#define HALF_BITS 31
#define HALF_MASK (((uint64_t)1 << HALF_BITS) - 1)

typedef __m256i numbers; // four of 64 bits

static inline numbers all(uint64_t x)
{
    return _mm256_set1_epi64x((long long)x);
}

static inline numbers add(numbers x, numbers y)
{
    return _mm256_add_epi64(x, y);
}

// Multiplies the lower 32 bits of each number; the bits above them are ignored.
static inline numbers multiply(numbers x, numbers y)
{
    return _mm256_mul_epu32(x, y);
}

static inline numbers low_half(numbers x)
{
    return _mm256_and_si256(x, all(HALF_MASK));
}

static inline numbers high_half(numbers x)
{
    return _mm256_srli_epi64(x, HALF_BITS);
}

// Returns: x mod PRIME.
static inline numbers reduce(numbers x)
{
    numbers prime = all(PRIME),
            folded = add(_mm256_and_si256(x, prime), _mm256_srli_epi64(x, 61)); // below PRIME + 8
    return _mm256_sub_epi64(folded, _mm256_andnot_si256(_mm256_cmpgt_epi64(prime, folded), prime));
}

// Returns: floor(y m / 2^61), from the halves of y of 32 bits.
static inline numbers scale(numbers y, numbers m)
{
    numbers low = _mm256_srli_epi64(multiply(y, m), 32),
            high = multiply(_mm256_srli_epi64(y, 32), m);
    return _mm256_srli_epi64(add(high, low), 61 - 32);
}

// Stores the lower halves of four numbers next to each other.
static inline void store(uint32_t *columns, numbers x)
{
    numbers even = _mm256_permutevar8x32_epi32(x, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
    _mm_storeu_si128((__m128i *)(void *)columns, _mm256_castsi256_si128(even));
}

// The halves of a row's coefficients, and twice the upper halves of a and b.
typedef struct row_halves {
    numbers a0, a1, a1_twice, b0, b1, b1_twice, c;
} row_halves;

static inline row_halves cut(const shoal_poly1 *row)
{
    uint64_t a1 = row->a >> HALF_BITS, b1 = row->b >> HALF_BITS;
    return (row_halves){all(row->a & HALF_MASK),
                        all(a1),
                        all(2 * a1),
                        all(row->b & HALF_MASK),
                        all(b1),
                        all(2 * b1),
                        all(row->c)};
}

// Returns: a s + b x + c mod PRIME, from the halves of x and of its square s.
static inline numbers evaluate(const row_halves *r, numbers x0, numbers x1, numbers s0, numbers s1)
{
    numbers outer_a = add(multiply(r->a0, s0), multiply(r->a1_twice, s1));
    numbers outer_b = add(multiply(r->b0, x0), multiply(r->b1_twice, x1));
    numbers inner_a = add(multiply(r->a0, s1), multiply(r->a1, s0));
    numbers inner_b = add(multiply(r->b0, x1), multiply(r->b1, x0));
    numbers inner = add(inner_a, inner_b), of_inner = _mm256_srli_epi64(inner, 61 - HALF_BITS);
    numbers wrapped = _mm256_and_si256(_mm256_slli_epi64(inner, HALF_BITS), all(PRIME));
    return reduce(add(add(add(outer_a, outer_b), r->c), add(wrapped, of_inner)));
}

void agg_poly1_columns_avx2(uint32_t *columns, size_t stride, const shoal_poly1 *rows,
                            const uint64_t *points, const uint64_t *squares, size_t n, uint32_t m)
{
    row_halves halves[AGG_POLY1_ROWS];
    const numbers columns_of_row = all(m);
    size_t i = 0;
    for (size_t r = 0; r < AGG_POLY1_ROWS; r++) halves[r] = cut(&rows[r]);
    for (; i + LANES <= n; i += LANES) {
        numbers x = _mm256_loadu_si256((const __m256i *)(const void *)(points + i));
        numbers s = _mm256_loadu_si256((const __m256i *)(const void *)(squares + i));
        numbers x0 = low_half(x), x1 = high_half(x), s0 = low_half(s), s1 = high_half(s);
        for (size_t r = 0; r < AGG_POLY1_ROWS; r++)
            store(columns + r * stride + i,
                  scale(evaluate(&halves[r], x0, x1, s0, s1), columns_of_row));
    }
    agg_poly1_columns_portable(columns + i, stride, rows, points + i, squares + i, n - i, m);
}
