// SPDX-License-Identifier: Apache-2.0
// The list of compounds; see compound_list.h.
#include "compound_list.h"

static const shoal_compound *const list[] = {
#define SHOAL_COMPOUND(id, stem, name) &shoal_##stem##_compound,
#include "compounds.def"
#undef SHOAL_COMPOUND
};

const shoal_compound *agg_compound_at(uint32_t index)
{
    return index < sizeof list / sizeof list[0] ? list[index] : NULL;
}

const shoal_compound *agg_compound_of_run(bool has_items)
{
    const shoal_compound *compound = NULL;
    for (uint32_t i = 0; (compound = agg_compound_at(i)) != NULL; i++) {
        bool is_run = (compound->takes.needs & SHOAL_TAKES_THRESH) != 0;
        if (is_run && has_items == (compound->domain != SHOAL_DOMAIN_NUMBER)) return compound;
    }
    return NULL;
}

bool agg_compound_needs(uint32_t mechanism, uint32_t takes)
{
    const shoal_compound *compound = shoal_compound_by_id(mechanism);
    return compound != NULL && (compound->takes.needs & takes) == takes;
}
