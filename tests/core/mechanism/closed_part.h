// SPDX-License-Identifier: Apache-2.0
// Parts and recipes of mechanisms over a closed list that state epsilon and size and nothing else,
// for their tests.
#ifndef CLOSED_PART_H
#define CLOSED_PART_H

#include "check.h"
#include "mechanism.h"
#include "test_recipes.h"

#define TWO_64 18446744073709551616.0

static const uint32_t closed_eps[] = {10000,   500000,  1000000,  1342455, 2000000,
                                      4000000, 8000000, 12000000, 16000000};
#define N_CLOSED_EPS (sizeof closed_eps / sizeof closed_eps[0])

static inline shoal_part closed_part(uint32_t mechanism, uint32_t size, uint32_t eps_micro)
{
    shoal_part part = {.mechanism = mechanism,
                       .domain = SHOAL_DOMAIN_CLOSED,
                       .eps_micro = eps_micro,
                       .k = 1,
                       .size = size};
    const char *field = "";
    if (!CHECK(shoal_part_prepare(&part, &field) == SHOAL_OK))
        printf("size %u, field %s\n", size, field);
    return part;
}

static inline shoal_err closed_recipe(shoal_recipe *recipe, const char *mechanism,
                                      int64_t eps_micro, uint32_t size)
{
    shoal_err err = start_recipe(mechanism, eps_micro);
    if (err == SHOAL_OK) err = set_int("parameters.size", size);
    return end_recipe(recipe, err);
}

// The number of the x-th of size + 1 items: an index, and last of all "none".
static inline uint64_t item_or_none(const shoal_part *part, uint32_t x)
{
    return x < part->size ? x : SHOAL_ITEM_NONE;
}

#endif
