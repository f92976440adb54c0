// SPDX-License-Identifier: Apache-2.0
// Computes the columns of eight points at a time with AVX-512 IFMA, which multiplies and adds
// numbers of 52 bits; see poly1_columns.h.
//
// A column needs only the first bits of y / 2^61 with y = (a x^2 + b x + c) mod P, and so only
// those of a x^2 / P + b x / P + c / P modulo 1. Because P = 2^61 - 1, a / P = 0.aaa... in digits
// of 61 bits. Let A1 be its first 52 bits and A2 the next 52. With x = x0 + 2^52 x1, x0 < 2^52 and
// x1 < 2^9, in units of 2^-52 and modulo 2^52,
//
//     a x / P = A1 x0 + floor(A2 x0 / 2^52) + A2 x1 + less than 2 + x1
//
// which takes three instructions and computes no digit that a column does not need. The parts that
// are left out of both products and of c sum to less than 1027. That is y / P. y / 2^61 is a
// multiple of 2^-9 units and less than that below y / P, so that both have the same whole part, and
// y / 2^61 lies between the sum t and t + 1027. If both ends give the same column, that is the
// column. If not, which happens at about m in 2^42 points, the portable variant computes it.
#include <immintrin.h>

#include "poly1_columns.h"

#define LANES ((size_t)8)
#define MASK (((uint64_t)1 << 52) - 1)
#define ERROR 1027u

typedef __m512i numbers; // eight of 64 bits

static inline numbers all(uint64_t x)
{
    return _mm512_set1_epi64((long long)x);
}

// Returns: the first 52 bits of x / P modulo 1. next_digits gives the 52 bits after them. The
// digits are the 61 bits of x, repeated.
static uint64_t first_digits(uint64_t x)
{
    return x >> 9;
}

static uint64_t next_digits(uint64_t x)
{
    return (x << 43 | x >> 18) & MASK;
}

// The digits of a row's a / P, b / P and c / P.
typedef struct row_digits {
    numbers a_first, a_next, b_first, b_next, c_first;
} row_digits;

static inline row_digits cut(const shoal_poly1 *row)
{
    return (row_digits){all(first_digits(row->a)), all(next_digits(row->a)),
                        all(first_digits(row->b)), all(next_digits(row->b)),
                        all(first_digits(row->c))};
}

// Returns: sum + a x / P. The products read the lower 52 bits of their factors.
//   first, next: the digits of a / P
//   x_high: x / 2^52
static inline numbers add_product(numbers sum, numbers first, numbers next, numbers x,
                                  numbers x_high)
{
    sum = _mm512_madd52lo_epu64(sum, first, x);
    sum = _mm512_madd52hi_epu64(sum, next, x);
    return _mm512_madd52lo_epu64(sum, next, x_high);
}

// Writes the columns of eight points.
//   s: the squares of the points
// Returns: the lanes in which the columns may be wrong.
static inline unsigned write_columns(uint32_t *columns, const row_digits *r, numbers x,
                                     numbers x_high, numbers s, numbers s_high, numbers m)
{
    const numbers zero = _mm512_setzero_si512();
    numbers of_square = add_product(zero, r->a_first, r->a_next, s, s_high);
    numbers of_point = add_product(r->c_first, r->b_first, r->b_next, x, x_high);
    numbers low = _mm512_add_epi64(of_square, of_point), high = _mm512_add_epi64(low, all(ERROR));
    numbers column = _mm512_madd52hi_epu64(zero, low, m),
            other = _mm512_madd52hi_epu64(zero, high, m);
    _mm256_storeu_si256((__m256i *)(void *)columns, _mm512_cvtepi64_epi32(column));
    return _mm512_cmpneq_epi64_mask(column, other);
}

void agg_poly1_columns_avx512(uint32_t *columns, size_t stride, const shoal_poly1 *rows,
                              const uint64_t *points, const uint64_t *squares, size_t n, uint32_t m)
{
    row_digits digits[AGG_POLY1_ROWS];
    const numbers columns_of_row = all(m);
    size_t i = 0;
    for (size_t r = 0; r < AGG_POLY1_ROWS; r++) digits[r] = cut(&rows[r]);
    for (; i + LANES <= n; i += LANES) {
        numbers x = _mm512_loadu_si512(points + i), s = _mm512_loadu_si512(squares + i);
        numbers x_high = _mm512_srli_epi64(x, 52), s_high = _mm512_srli_epi64(s, 52);
        unsigned unsure = 0;
        for (size_t r = 0; r < AGG_POLY1_ROWS; r++)
            unsure |= write_columns(columns + r * stride + i, &digits[r], x, x_high, s, s_high,
                                    columns_of_row);
        if (unsure != 0)
            agg_poly1_columns_portable(columns + i, stride, rows, points + i, squares + i, LANES,
                                       m);
    }
    agg_poly1_columns_portable(columns + i, stride, rows, points + i, squares + i, n - i, m);
}
