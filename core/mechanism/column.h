// SPDX-License-Identifier: Apache-2.0
// The column of an item in a row. CMS, HCMS and local hashing share this code, over both hash
// families. Private to the core.
#ifndef SHOAL_COLUMN_H
#define SHOAL_COLUMN_H

#include "mechanism.h"

// Returns: h_j(item) in [0, part->m) under part->hash. In a closed domain the column of
// SHOAL_ITEM_NONE is uniformly random, as any other value's column is relative to a listed value's.
// Draws: below(m) in a closed domain, for any item; nothing in an open one.
// Timing: constant in the item.
uint32_t shoal_column(const shoal_part *part, uint32_t j, uint64_t item, shoal_rng *rng);

// Checks a part's rows and columns: k in 1 .. k_max, m in 2 .. m_max, and k m at most
// SHOAL_SKETCH_CELLS_MAX. Hash family affine1 also needs m to be a power of two in 2 .. 2^20 and
// size <= 2^24.
//   field: written always; on error it names "k", `columns` or "size"
//   columns: the mechanism's name for its columns, such as "m"
// Returns: SHOAL_ERR_RANGE if a number is out of range.
shoal_err shoal_column_check(const shoal_part *part, const char **field, const char *columns,
                             uint32_t k_max, uint32_t m_max) SHOAL_MUST_CHECK;

// Fields that the recipe of a sketch with k rows and m columns must state, over either domain.
#define SHOAL_TAKES_SKETCH (SHOAL_TAKES_EPSILON | SHOAL_TAKES_K | SHOAL_TAKES_M | SHOAL_TAKES_SEED)

#endif
