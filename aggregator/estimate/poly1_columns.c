// SPDX-License-Identifier: Apache-2.0
// The portable variant, and the choice among variants; see poly1_columns.h.
#include "poly1_columns.h"

#include "wide.h"

#define PRIME (((uint64_t)1 << 61) - 1)

// Returns: a number below 2^62 that equals x y modulo PRIME, because 2^61 = 1.
//   x, y: below 2^61
static inline uint64_t multiply(uint64_t x, uint64_t y)
{
    wide product = wide_mul(x, y); // below 2^122
    return (product.low & PRIME) + (product.high << 3 | product.low >> 61);
}

// Returns: x mod PRIME.
static inline uint64_t reduce(uint64_t x)
{
    uint64_t folded = (x & PRIME) + (x >> 61); // below PRIME + 8
    return (folded + ((folded + 1) >> 61)) & PRIME;
}

uint64_t agg_poly1_square(uint64_t point)
{
    return reduce(multiply(point, point));
}

static void columns_of_row(uint32_t *columns, const shoal_poly1 *row, const uint64_t *points,
                           const uint64_t *squares, size_t n, uint32_t m)
{
    const shoal_poly1 r = *row;
    for (size_t i = 0; i < n; i++) {
        uint64_t y = reduce(multiply(r.a, squares[i]) + multiply(r.b, points[i]) +
                            r.c); // the sum is below 2^64
        wide scaled = wide_mul(y, m);
        columns[i] = (uint32_t)(scaled.high << 3 | scaled.low >> 61);
    }
}

void agg_poly1_columns_portable(uint32_t *columns, size_t stride, const shoal_poly1 *rows,
                                const uint64_t *points, const uint64_t *squares, size_t n,
                                uint32_t m)
{
    for (size_t r = 0; r < AGG_POLY1_ROWS; r++)
        columns_of_row(columns + r * stride, &rows[r], points, squares, n, m);
}

agg_poly1_columns agg_poly1_columns_of(agg_cpu cpu)
{
#ifdef SHOAL_X86
    static const agg_poly1_columns variants[AGG_CPU_COUNT] = {
        agg_poly1_columns_portable, agg_poly1_columns_avx2, agg_poly1_columns_avx512};
    return variants[cpu];
#else
    (void)cpu;
    return agg_poly1_columns_portable;
#endif
}
