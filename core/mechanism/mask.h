// SPDX-License-Identifier: Apache-2.0
// Branch-free choices on secrets by masks of all ones or zero. Private to the core.
#ifndef SHOAL_MASK_H
#define SHOAL_MASK_H

#include <stdint.h>

#include "mechanism.h"

// Returns: all ones if a < b, else zero.
static inline uint32_t mask_if_less(uint32_t a, uint32_t b)
{
    return (uint32_t)(((uint64_t)a - b) >> 32);
}

// Returns: `yes` if the mask is all ones, `no` if it is zero.
static inline uint32_t mask_choose(uint32_t mask, uint32_t yes, uint32_t no)
{
    return (yes & mask) | (no & ~mask);
}

// Returns: the index of a closed domain's item, or `size` for SHOAL_ITEM_NONE, whose low half is
// above every size.
static inline uint32_t mask_listed_or_size(const shoal_part *part, uint64_t item)
{
    return mask_choose(mask_if_less((uint32_t)item, part->size), (uint32_t)item, part->size);
}

#endif
