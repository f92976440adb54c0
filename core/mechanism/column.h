// SPDX-License-Identifier: Apache-2.0
// The column of an item in a row: what CMS, HCMS and local hashing have in common, over both hash
// families. Private to the core.
#ifndef SHOAL_COLUMN_H
#define SHOAL_COLUMN_H

#include "mechanism.h"

// Returns: h_j(item) in [0, part->m) under part->hash; for SHOAL_ITEM_NONE in a closed domain, a
// uniformly random column, which is what any other value is to a listed one. Draws: below(m) in a
// closed domain, whatever the item; none in an open one. Timing: constant in the item.
uint32_t shoal_column(const shoal_part *part, uint32_t j, uint64_t item, shoal_rng *rng);

// SHOAL_ERR_RANGE, naming "k", "m" (or whatever the mechanism calls its columns) or "size", unless
// k is in 1 .. k_max, m in 2 .. m_max, their product at most SHOAL_SKETCH_CELLS_MAX, and the hash
// family can serve the part: affine1 needs m to be a power of two in 2 .. 2^20 and size <= 2^24.
shoal_err shoal_column_check(const shoal_part *part, const char **field, const char *columns,
                             uint32_t k_max, uint32_t m_max) SHOAL_MUST_CHECK;

// What the recipe of a sketch of k rows and m columns states, over either domain.
#define SHOAL_TAKES_SKETCH (SHOAL_TAKES_EPSILON | SHOAL_TAKES_K | SHOAL_TAKES_M | SHOAL_TAKES_SEED)

#endif
