// SPDX-License-Identifier: Apache-2.0
// The columns of many points in a few rows of `poly1`: what looking words up in a sketch spends its
// time on. Private to estimate/.
//
// A point's square is computed once for all rows, so that a column is
//
//     floor( ((a x^2 + b x + c) mod P) * m / 2^61 ),     P = 2^61 - 1 (core/hash/poly1.h)
//
// with two products side by side and one reduction; and what points need is made once for all rows
// of a call. poly1_columns.c has it in portable C, which is the reference, and picks the variant;
// poly1_columns_avx2.c and poly1_columns_avx512.c give the same columns, exactly, four and eight
// points at a time.
#ifndef POLY1_COLUMNS_H
#define POLY1_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#include "agg_cpu.h"
#include "poly1.h"

#define AGG_POLY1_ROWS 4u // rows of a call

// Writes columns[r * stride + i] = shoal_poly1_hash(&rows[r], points[i], m).
//   rows: AGG_POLY1_ROWS
//   points, squares: n points of the field and agg_poly1_square of each
//   m: 1 .. 2^24
typedef void (*agg_poly1_columns)(uint32_t *columns, size_t stride, const shoal_poly1 *rows,
                                  const uint64_t *points, const uint64_t *squares, size_t n,
                                  uint32_t m);

// Returns: the function for this instruction set, which the machine must have.
agg_poly1_columns agg_poly1_columns_of(agg_cpu cpu);

// Returns: point * point mod P.
uint64_t agg_poly1_square(uint64_t point);

// The variants, by the table of poly1_columns.c only.
void agg_poly1_columns_portable(uint32_t *columns, size_t stride, const shoal_poly1 *rows,
                                const uint64_t *points, const uint64_t *squares, size_t n,
                                uint32_t m);
void agg_poly1_columns_avx2(uint32_t *columns, size_t stride, const shoal_poly1 *rows,
                            const uint64_t *points, const uint64_t *squares, size_t n, uint32_t m);
void agg_poly1_columns_avx512(uint32_t *columns, size_t stride, const shoal_poly1 *rows,
                              const uint64_t *points, const uint64_t *squares, size_t n,
                              uint32_t m);

#endif
