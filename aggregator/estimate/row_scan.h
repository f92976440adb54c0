// SPDX-License-Identifier: Apache-2.0
// Looks items up in every row of a sketch: support[i] = sum_j row_j[h_j(item_i)], for CMS, HCMS and
// local hashing over either hash family. Private to estimate/.
#ifndef ROW_SCAN_H
#define ROW_SCAN_H

#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"
#include "mechanism.h"
#include "sketch.h"

// Writes the m numbers of row j that are added up: the row's cells, or their transform.
typedef void (*agg_row_values)(int32_t *values, const agg_sketch *sketch, uint32_t j);

// Computes the supports of items. Numbers of rows are unsigned or signed 32-bit, as the sketch's
// kind says, and sums are exact. Row j of the sketch is hashed as row part->first_row + j.
//   support: n_items, one for each of `items`
//   values: called once for each row
//   items: n_items fingerprints or indices, as the part's domain says
//   block: items that are looked up in one row before the next row; 0 for all of them
// Cost: one hash and one look-up for each row and item. Threads share the rows; integer sums make
// the result independent of the number of threads.
agg_err agg_row_scan(int64_t *support, agg_error *error, const shoal_part *part,
                     const agg_sketch *sketch, agg_row_values values, const uint64_t *items,
                     size_t n_items, size_t block, unsigned n_threads) SHOAL_MUST_CHECK;

// Returns: the bytes that agg_row_scan takes.
uint64_t agg_row_scan_memory(const shoal_part *part, size_t n_items, unsigned n_threads);

#endif
