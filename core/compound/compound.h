// SPDX-License-Identifier: Apache-2.0
// Mechanisms that are made of others (compounds.def): a recipe of one has several parts, or parts
// that its fields describe otherwise, and each part is one of mechanisms.def, folded, merged and
// estimated as ever.
//
// A part may have fewer rows than its sketch: `first_row` of shoal_part. So a row, which is sent in
// the clear, says as well which position of a string the part is about: rows [p r, (p + 1) r) are
// those of position p.
#ifndef SHOAL_COMPOUND_H
#define SHOAL_COMPOUND_H

#include "recipe.h"

enum {
    SHOAL_COMPOUND_NONE = 0,
#define SHOAL_COMPOUND(id, stem, name) shoal_##stem##_id = id,
#include "compounds.def"
#undef SHOAL_COMPOUND
};

typedef struct shoal_compound {
    uint32_t id;
    const char *name;
    uint32_t domain;   // of what is counted: OPEN strings, or CLOSED cells of an encoding
    shoal_takes takes; // what its recipes state
    int keeps_records; // its decoder needs which parts came together: accumulators keep the
                       // distinct records
    int is_permanent;  // randomize reads `permanent`
    // Makes recipe->parts, prepared, n_parts and value_part of the recipe's fields. SHOAL_ERR_RANGE
    // names the field in *field, as prepare of shoal_mechanism does.
    //   cells: of the recipe's encoding; 0 where it has none
    shoal_err (*expand)(shoal_recipe *recipe, uint32_t cells, const char **field);
    // Writes a record of a string; NULL where items are cells. Privacy: the recipe's cost, for any
    // two strings.
    void (*randomize)(uint8_t *record, const shoal_recipe *recipe, const uint8_t *bytes, size_t len,
                      const shoal_permanent *permanent, shoal_rng *rng);
} shoal_compound;

#define SHOAL_COMPOUND(id, stem, name) extern const shoal_compound shoal_##stem##_compound;
#include "compounds.def"
#undef SHOAL_COMPOUND

// Returns: the compound of that id or name, or NULL where this build does not carry it.
const shoal_compound *shoal_compound_by_id(uint32_t id);
const shoal_compound *shoal_compound_by_name(const char *name, size_t len);

// Returns: the static name of the recipe's mechanism, a compound or not.
const char *shoal_recipe_mechanism_name(const shoal_recipe *recipe);

#endif
