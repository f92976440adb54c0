// SPDX-License-Identifier: Apache-2.0
// Counting records of bits by row. A record is its row (4 bytes, little-endian) and m bits, as
// those of CMS and RAPPOR, or bits alone, as those of one-hot encodings. Private to sketch/.
//
// Records are sorted by row first: a counting sort of their positions, in pieces that stay in the
// cache while every row gets enough of them. Then each row's vectors are counted vertically
// (bit_columns.h) while the next row's are prefetched. Threads own either disjoint rows, which
// takes no lock, or records and carry-save counters; a row's counters are added to its counts under
// a lock, once for many records. Sums of integers commute, so the result depends neither on the
// number of threads nor on their order.
#ifndef ROW_FOLD_H
#define ROW_FOLD_H

#include <stddef.h>

#include "agg_error.h"
#include "agg_parallel.h"
#include "bit_columns.h"

#define AGG_ROW_LOCKS 16u

// Records of a row that are worth reading and writing the row's counts for: with fewer, that costs
// more than the counting.
#define AGG_RECORDS_A_ROW 32u

// Bytes of a piece, where rows are few or have counters: its records are sorted from the cache.
#define AGG_PIECE_BYTES ((size_t)3 << 20)

// Rows [first, first + n_rows) of a sketch.
typedef struct agg_row_range {
    uint32_t *cells; // n_rows * m counts
    uint32_t *rows;  // n_rows: records of each row
    uint32_t first, n_rows, m;
    // Carry-save counters, agg_counters_size(m) bytes a row, in which records wait until a row's
    // are full or agg_row_drain is called. They spare reading and writing the row's counts for a
    // few records, where the cache holds the counters and would not hold the counts. NULL: none.
    uint8_t *counters;
    uint8_t *pending; // n_rows: records that wait in each row's counters; NULL where none wait
    agg_lock *locks;  // AGG_ROW_LOCKS, where threads with counters of their own add to the same
                      // counts; else NULL
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
    if (range->counters == NULL) return part;
    part.counters += first * agg_counters_size(range->m);
    part.pending += first;
    return part;
}

// Records that are sorted by row together.
typedef struct agg_row_piece {
    const uint8_t *records; // `stride` bytes apart
    size_t stride;
    uint32_t count;
    const uint8_t
        *rows; // 4 bytes a record, which is bits alone; NULL: a record begins with its row
} agg_row_piece;

// Returns: how many numbers of scratch agg_row_fold_piece takes.
static inline size_t agg_row_scratch(uint32_t n_rows, uint32_t count)
{
    return (size_t)n_rows + 1 + 2 * (size_t)count;
}

// Adds the records of a piece whose row is in the range; the others are skipped.
//   scratch: agg_row_scratch(n_rows, piece->count) numbers, of any content
void agg_row_fold_piece(const agg_row_range *range, const agg_row_piece *piece, uint32_t *scratch,
                        const agg_bit_columns *columns);

// Adds what waits in the range's counters to its counts and rows.
void agg_row_drain(const agg_row_range *range, const agg_bit_columns *columns);

// Adds `count` records of the range's rows, piece by piece, on up to n_threads threads.
//   range: without counters
// Memory: agg_row_scratch(n_rows, count) numbers a thread at most, fewer where the rows are few.
agg_err agg_row_fold(const agg_row_range *range, agg_error *error, const uint8_t *records,
                     size_t stride, uint32_t count, unsigned n_threads) SHOAL_MUST_CHECK;

// Adds `count` vectors of m bits, `stride` bytes apart, to one row of counts.
agg_err agg_one_row_fold(uint32_t *counts, uint32_t m, agg_error *error, const uint8_t *vectors,
                         size_t stride, uint32_t count, unsigned n_threads) SHOAL_MUST_CHECK;

#endif
