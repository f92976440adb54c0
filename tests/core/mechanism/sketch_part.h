// SPDX-License-Identifier: Apache-2.0
// Parts of the mechanisms that hash items to columns, over both domains, and the columns that
// enumeration expects of them.
#ifndef SKETCH_PART_H
#define SKETCH_PART_H

#include "affine1.h"
#include "check.h"
#include "mechanism.h"
#include "poly1.h"

#define SKETCH_ITEMS 12u // items of a law, and the size of the closed lists here

static inline shoal_part sketch_part(uint32_t mechanism, uint32_t k, uint32_t m, uint32_t eps_micro,
                                     int is_closed)
{
    shoal_part part = {.mechanism = mechanism,
                       .domain = is_closed ? SHOAL_DOMAIN_CLOSED : SHOAL_DOMAIN_OPEN,
                       .hash = is_closed ? SHOAL_HASH_AFFINE1 : SHOAL_HASH_POLY1,
                       .eps_micro = eps_micro,
                       .k = k,
                       .m = m,
                       .size = is_closed ? SKETCH_ITEMS : 0,
                       .seed = {5}};
    const char *field;
    CHECK(shoal_part_prepare(&part, &field) == SHOAL_OK);
    return part;
}

// How many laws there are to compare: one an item, and in a closed domain that of "none".
static inline uint32_t sketch_laws(const shoal_part *part)
{
    return part->size > 0 ? SKETCH_ITEMS + 1 : SKETCH_ITEMS;
}

// The item of law x, with "none" last of all.
static inline uint64_t sketch_item(const shoal_part *part, uint32_t x)
{
    if (part->size == 0) return (uint64_t)x * 1000003;
    return x < SKETCH_ITEMS ? x : SHOAL_ITEM_NONE;
}

// The column of an item in row j; of "none" the one that was drawn.
static inline uint32_t sketch_column(const shoal_part *part, uint32_t j, uint64_t item,
                                     uint32_t drawn)
{
    shoal_poly1 poly;
    shoal_affine1 affine;
    if (item == SHOAL_ITEM_NONE) return drawn;
    shoal_poly1_row(&poly, part->seed, j);
    shoal_affine1_row(&affine, part->seed, j, part->m);
    return part->size > 0 ? shoal_affine1_hash(&affine, (uint32_t)item)
                          : shoal_poly1_hash(&poly, shoal_poly1_point(item), part->m);
}

#endif
