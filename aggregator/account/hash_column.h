// SPDX-License-Identifier: Apache-2.0
// Computes the column of an item in a row under either hash family, for code that reads records.
// Private to the aggregator.
#ifndef HASH_COLUMN_H
#define HASH_COLUMN_H

#include "affine1.h"
#include "mechanism.h"
#include "poly1.h"

// Returns: h_j(item) in [0, part->m).
//   item: no SHOAL_ITEM_NONE in a closed domain
static inline uint32_t agg_hash_column(const shoal_part *part, uint32_t j, uint64_t item)
{
    if (part->hash == SHOAL_HASH_AFFINE1) {
        shoal_affine1 row;
        shoal_affine1_row(&row, part->seed, j, part->m);
        return shoal_affine1_hash(&row, (uint32_t)item);
    }
    shoal_poly1 row;
    shoal_poly1_row(&row, part->seed, j);
    return shoal_poly1_hash(&row, shoal_poly1_point(item), part->m);
}

#endif
