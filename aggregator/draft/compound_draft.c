// SPDX-License-Identifier: Apache-2.0
// The table of drafts; see compound_draft.h.
#include "compound_draft.h"

static const compound_draft *const table[] = {
#define SHOAL_COMPOUND(id, stem, name)
#define SHOAL_FINDS_STRINGS(stem) &agg_##stem##_draft,
#include "compounds.def"
#undef SHOAL_FINDS_STRINGS
#undef SHOAL_COMPOUND
};

const compound_draft *compound_draft_of(uint32_t mechanism)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i]->id == mechanism) return table[i];
    return NULL;
}
