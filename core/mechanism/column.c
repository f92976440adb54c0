// SPDX-License-Identifier: Apache-2.0
// Computes one item's column in one row; see column.h.
#include "column.h"

#include "affine1.h"
#include "bytes.h"
#include "poly1.h"

// Returns all ones for SHOAL_ITEM_NONE, else zero, without a branch.
static inline uint32_t mask_if_none(uint64_t item)
{
    uint64_t rest = ~item; // zero for SHOAL_ITEM_NONE
    return (uint32_t)(((rest | (0 - rest)) >> 63) - 1);
}

uint32_t shoal_column(const shoal_part *part, uint32_t j, uint64_t item, shoal_rng *rng)
{
    if (part->hash == SHOAL_HASH_AFFINE1) {
        shoal_affine1 row;
        uint32_t none = mask_if_none(item), random = (uint32_t)shoal_rng_below(rng, part->m);
        shoal_affine1_row(&row, part->seed, j, part->m);
        return (random & none) | (shoal_affine1_hash(&row, (uint32_t)item) & ~none);
    }
    shoal_poly1 row;
    shoal_poly1_row(&row, part->seed, j);
    return shoal_poly1_hash(&row, shoal_poly1_point(item), part->m);
}

shoal_err shoal_column_check(const shoal_part *part, const char **field, const char *columns,
                             uint32_t k_max, uint32_t m_max)
{
    *field = "k";
    if (part->k < 1 || part->k > k_max) return SHOAL_ERR_RANGE;
    *field = columns;
    if (part->m < 2 || part->m > m_max) return SHOAL_ERR_RANGE;
    if ((uint64_t)part->k * part->m > SHOAL_SKETCH_CELLS_MAX) return SHOAL_ERR_RANGE;
    if (part->hash != SHOAL_HASH_AFFINE1) return SHOAL_OK;
    if ((part->m & (part->m - 1)) != 0 || part->m > (uint32_t)1 << SHOAL_AFFINE1_OUT_BITS)
        return SHOAL_ERR_RANGE;
    *field = "size";
    return part->size > (uint32_t)1 << SHOAL_AFFINE1_BITS ? SHOAL_ERR_RANGE : SHOAL_OK;
}
