// SPDX-License-Identifier: Apache-2.0
// Adding up records of bits: records that begin with their row (4 bytes, little-endian), as those of CMS and RAPPOR, and records that are bits
// alone, as those of one-hot encodings. Private to sketch/.
//
// Records are grouped by row first (a counting sort of their positions, in pieces that stay in the cache while every row gets enough of them),
// then each row's group is counted vertically (bit_columns.h). Threads own disjoint rows, so that there is nothing to lock and the result
// cannot depend on their number.
#ifndef ROW_FOLD_H
#define ROW_FOLD_H

#include <stddef.h>

#include "agg_error.h"
#include "bit_columns.h"

// Rows [first, first + n_rows) of a sketch.
typedef struct agg_row_range {
    uint32_t *cells; // n_rows * m counts
    uint32_t *rows;  // n_rows: records of each
    uint32_t first, n_rows, m;
} agg_row_range;

// Adds those of `count` records whose row is in the range.
//   records: `stride` bytes apart
//   scratch: n_rows + 1 + count numbers, of any content
void agg_row_fold_piece(const agg_row_range *range, const uint8_t *records, size_t stride, uint32_t count,
                        uint32_t *scratch, agg_bit_columns add_columns);

// Adds `count` records of the range's rows, piece by piece, on up to n_threads threads. Scratch memory: 4 (count + n_rows) bytes a thread at
// most, fewer where the rows are few.
shoal_err agg_row_fold(const agg_row_range *range, agg_error *error, const uint8_t *records, size_t stride,
                       uint32_t count, unsigned n_threads) SHOAL_MUST_CHECK;

// Adds `count` vectors of m bits, `stride` bytes apart, to one row of counts.
shoal_err agg_one_row_fold(uint32_t *counts, uint32_t m, agg_error *error, const uint8_t *vectors, size_t stride,
                           uint32_t count, unsigned n_threads) SHOAL_MUST_CHECK;

// Records of a row that make it worth the trouble: below, reading and writing the row's counts costs more than counting.
#define AGG_RECORDS_A_ROW 32u

#endif
