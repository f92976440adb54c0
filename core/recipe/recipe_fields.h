// SPDX-License-Identifier: Apache-2.0
// The table of the recipe fields that this build carries, generated from recipe_fields.def. The
// header is private to the core.
#ifndef SHOAL_RECIPE_FIELDS_H
#define SHOAL_RECIPE_FIELDS_H

#include "canonical.h"
#include "field_table.h"
#include "recipe.h"

// Flags of a row.
enum {
    SHOAL_REQUIRED = 1 << 0, // every recipe states the field
    SHOAL_OF_VARIABLE =
        1 << 1, // in a joint recipe each variable states the field, and the recipe does not
    SHOAL_OF_ROUND = 1 << 2,   // the hash of a run leaves the field out
    SHOAL_OF_PART = 1 << 3,    // the signed bytes and the hash of a run leave the field out
    SHOAL_OF_SERVERS = 1 << 4, // only recipes with protocol dap state the field
    SHOAL_AS_COHORT = 1 << 5   // the default is the recipe's cohort.minimum, not `initial`
};

// The `part` of a row whose number no part takes.
#define SHOAL_NO_PART_OFFSET UINT16_MAX

typedef struct shoal_recipe_row {
    shoal_field f; // kind LIST if the field has functions of its own
    uint32_t takes;
    uint16_t tag;
    uint16_t part; // offset in shoal_part, or SHOAL_NO_PART_OFFSET
    uint8_t flags;
    // Writes the canonical bytes of a field that has functions of its own, or nothing if the field
    // is absent. NULL for scalars.
    void (*put)(shoal_canonical *w, uint16_t tag, const shoal_recipe *recipe);
} shoal_recipe_row;

extern const shoal_recipe_row shoal_recipe_rows[];
extern const size_t shoal_recipe_n_rows;

// The `put` functions (recipe_lists.c).
#define SHOAL_FIELD(...)
#define SHOAL_OWN(a_tag, modules, path, stem, ...)                                                 \
    void shoal_put_##stem(shoal_canonical *w, uint16_t tag, const shoal_recipe *recipe);
#include "recipe_fields.def"
#undef SHOAL_FIELD
#undef SHOAL_OWN

// Returns: the path after "parameters.", or NULL if the row belongs to another object.
const char *shoal_recipe_parameter_name(const shoal_recipe_row *row);

// Returns: whether the recipe states the field of row i.
static inline bool shoal_recipe_states(const shoal_recipe *recipe, size_t i)
{
    return recipe->stated[i / 64] >> i % 64 & 1;
}

#endif
