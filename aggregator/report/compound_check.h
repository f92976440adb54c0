// SPDX-License-Identifier: Apache-2.0
// The output of `shoal recipe check` for mechanisms that find strings. Each mechanism has a file of
// its own.
#ifndef COMPOUND_CHECK_H
#define COMPOUND_CHECK_H

#include "compound.h"

typedef struct agg_compound_check {
    uint32_t id; // of compounds.def
    // Prints how the recipe reports a string: positions, parts, rounds.
    void (*print)(const shoal_recipe *recipe);
    // Returns: how many permanent answers about one value its reports reveal in the end. NULL: one.
    uint32_t (*answers)(const shoal_recipe *recipe);
} agg_compound_check;

#define SHOAL_COMPOUND(id, stem, name)
#define SHOAL_FINDS_STRINGS(stem) extern const agg_compound_check agg_##stem##_check;
#include "compounds.def"
#undef SHOAL_FINDS_STRINGS
#undef SHOAL_COMPOUND

// Returns: the check of a mechanism id, or NULL for one that finds no strings.
const agg_compound_check *agg_compound_check_of(uint32_t mechanism);

#endif
