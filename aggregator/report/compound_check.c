// SPDX-License-Identifier: Apache-2.0
// The table of compound checks; see compound_check.h.
#include "compound_check.h"

static const agg_compound_check *const table[] = {
#define SHOAL_COMPOUND(id, stem, name)
#define SHOAL_FINDS_STRINGS(stem) &agg_##stem##_check,
#include "compounds.def"
#undef SHOAL_FINDS_STRINGS
#undef SHOAL_COMPOUND
};

const agg_compound_check *agg_compound_check_of(uint32_t mechanism)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i]->id == mechanism) return table[i];
    return NULL;
}
