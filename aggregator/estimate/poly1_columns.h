// SPDX-License-Identifier: Apache-2.0
// Computes the columns of many points in a few rows of `poly1`. Looking words up in a sketch spends
// most of its time here. Private to estimate/.
//
// A column is
//
//     floor( ((a x^2 + b x + c) mod P) * m / 2^61 ),     P = 2^61 - 1 (core/hash/poly1.h)
//
// A point's square is computed once for all rows, so that a column takes two independent products
// and one reduction. poly1_columns.c is portable C, which is the reference, and picks the variant.
// poly1_columns_avx2.c and poly1_columns_avx512.c give exactly the same columns, four and eight
// points at a time.
#ifndef POLY1_COLUMNS_H
#define POLY1_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#include "agg_cpu.h"
#include "poly1.h"

#define AGG_POLY1_ROWS 4u // rows in one call

// Computes columns[r * stride + i] = shoal_poly1_hash(&rows[r], points[i], m).
//   rows: AGG_POLY1_ROWS
//   points, squares: n points of the field, and agg_poly1_square of each
//   m: 1 .. 2^24
typedef void (*agg_poly1_columns)(uint32_t *columns, size_t stride, const shoal_poly1 *rows,
                                  const uint64_t *points, const uint64_t *squares, size_t n,
                                  uint32_t m);

// Returns: the variant for an instruction set that the machine has.
agg_poly1_columns agg_poly1_columns_of(agg_cpu cpu);

// Returns: point * point mod P.
uint64_t agg_poly1_square(uint64_t point);

// The variants. Call them through agg_poly1_columns_of.
void agg_poly1_columns_portable(uint32_t *columns, size_t stride, const shoal_poly1 *rows,
                                const uint64_t *points, const uint64_t *squares, size_t n,
                                uint32_t m);
void agg_poly1_columns_avx2(uint32_t *columns, size_t stride, const shoal_poly1 *rows,
                            const uint64_t *points, const uint64_t *squares, size_t n, uint32_t m);
void agg_poly1_columns_avx512(uint32_t *columns, size_t stride, const shoal_poly1 *rows,
                              const uint64_t *points, const uint64_t *squares, size_t n,
                              uint32_t m);

#endif
