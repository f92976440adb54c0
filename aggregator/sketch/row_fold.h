// SPDX-License-Identifier: Apache-2.0
// Adding up records of bits: records that begin with their row (4 bytes, little-endian), as those
// of CMS and RAPPOR, and records that are bits alone, as those of one-hot encodings. Private to
// sketch/.
//
// Records are grouped by row first (a counting sort of their positions, in pieces that stay in the
// cache while every row gets enough of them), then each row's group is counted vertically
// (bit_columns.h), while memory is asked for the next row's. Threads own disjoint rows, so that
// there is nothing to lock; or they own records and planes, and a row's planes are added to its
// counts under a lock, once for many records. Sums of integers: the result cannot depend on the
// threads' number, nor on which is first.
#ifndef ROW_FOLD_H
#define ROW_FOLD_H

#include <stddef.h>

#include "agg_error.h"
#include "agg_parallel.h"
#include "bit_columns.h"

#define AGG_ROW_LOCKS 16u

// Rows [first, first + n_rows) of a sketch.
typedef struct agg_row_range {
    uint32_t *cells; // n_rows * m counts
    uint32_t *rows;  // n_rows: records of each
    uint32_t first, n_rows, m;
    // Records that wait in planes, agg_planes_size(m) bytes a row, until a row's are full or
    // agg_row_empty is called; NULL: none wait. They spare reading and writing a row's counts for a
    // few records, where the planes stay in the cache and the counts would not.
    uint8_t *planes;
    uint8_t *kept;   // n_rows: records that wait in each row's planes; NULL with planes
    agg_lock *locks; // AGG_ROW_LOCKS, where others with planes of their own add to the same counts
                     // at once; NULL: nobody does
} agg_row_range;

// Returns: rows [first, first + n_rows) of the range, counted from its own first.
static inline agg_row_range agg_row_part(const agg_row_range *range, uint32_t first,
                                         uint32_t n_rows)
{
    agg_row_range part = *range;
    part.cells += (size_t)first * range->m;
    part.rows += first;
    part.first += first;
    part.n_rows = n_rows;
    if (range->planes == NULL) return part;
    part.planes += first * agg_planes_size(range->m);
    part.kept += first;
    return part;
}

// Records that are grouped together.
typedef struct agg_row_piece {
    const uint8_t *records; // `stride` bytes apart
    size_t stride;
    uint32_t count;
    const uint8_t
        *rows; // 4 bytes of each, where they are bits alone; NULL: a record begins with its row
} agg_row_piece;

// Numbers of scratch that agg_row_fold_piece takes.
static inline size_t agg_row_scratch(uint32_t n_rows, uint32_t count)
{
    return (size_t)n_rows + 1 + 2 * (size_t)count;
}

// Adds those of a piece's records whose row is in the range.
//   scratch: agg_row_scratch(n_rows, piece->count) numbers, of any content
void agg_row_fold_piece(const agg_row_range *range, const agg_row_piece *piece, uint32_t *scratch,
                        const agg_bit_columns *columns);

// Adds what waits in the range's planes to its counts and rows.
void agg_row_empty(const agg_row_range *range, const agg_bit_columns *columns);

// Adds `count` records of the range's rows, piece by piece, on up to n_threads threads. Scratch
// memory: agg_row_scratch(n_rows, count) numbers a thread at most, fewer where the rows are few.
agg_err agg_row_fold(const agg_row_range *range, agg_error *error, const uint8_t *records,
                     size_t stride, uint32_t count, unsigned n_threads) SHOAL_MUST_CHECK;

// Adds `count` vectors of m bits, `stride` bytes apart, to one row of counts.
agg_err agg_one_row_fold(uint32_t *counts, uint32_t m, agg_error *error, const uint8_t *vectors,
                         size_t stride, uint32_t count, unsigned n_threads) SHOAL_MUST_CHECK;

// Records of a row that make it worth the trouble: below, reading and writing the row's counts
// costs more than counting.
#define AGG_RECORDS_A_ROW 32u

// Bytes of records that are grouped together, where the rows are few or have planes: taken in any
// order, they should come from the cache.
#define AGG_PIECE_BYTES ((size_t)3 << 20)

#endif
