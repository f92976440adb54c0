// SPDX-License-Identifier: Apache-2.0
// The table of compounds that this build carries; see compound.h.
#include "compound.h"

#include "name.h"
#include "recipe.h"

// A module that carries only some compounds is compiled with its own list.
#ifndef SHOAL_CARRIED_COMPOUNDS
#define SHOAL_CARRIED_COMPOUNDS "compounds.def"
#endif

static const shoal_compound *const table[] = {
#define SHOAL_COMPOUND(id, stem, name) &shoal_##stem##_compound,
#include SHOAL_CARRIED_COMPOUNDS
#undef SHOAL_COMPOUND
    NULL};

const shoal_compound *shoal_compound_by_id(uint32_t id)
{
    for (size_t i = 0; table[i] != NULL; i++)
        if (table[i]->id == id) return table[i];
    return NULL;
}

const shoal_compound *shoal_compound_by_name(const char *name, size_t len)
{
    for (size_t i = 0; table[i] != NULL; i++)
        if (shoal_text_equal(table[i]->name, name, len)) return table[i];
    return NULL;
}

const char *shoal_recipe_mechanism_name(const shoal_recipe *recipe)
{
    const shoal_mechanism *mechanism = shoal_mechanism_by_id(recipe->mechanism);
    const shoal_compound *compound = shoal_compound_by_id(recipe->mechanism);
    if (compound != NULL) return compound->name;
    return mechanism != NULL ? mechanism->name : NULL;
}

bool shoal_recipe_keeps_records(const shoal_recipe *recipe)
{
    const shoal_compound *compound = shoal_compound_by_id(recipe->mechanism);
    return compound != NULL && compound->keeps_records;
}
