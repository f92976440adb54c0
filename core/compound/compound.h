// SPDX-License-Identifier: Apache-2.0
// A compound is a mechanism made of others (compounds.def). Its recipes have several parts, or
// parts that their fields describe in another way. Each part belongs to a mechanism of
// mechanisms.def and is folded, merged and estimated as usual.
//
// A part may use only some rows of its sketch, beginning at `first_row` of shoal_part. Rows are
// sent in the clear, so a row can also state the position of the string that the part is about:
// rows [p r, (p + 1) r) belong to position p.
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
    uint32_t domain;    // domain of the items: OPEN for strings, CLOSED for cells of an encoding
    shoal_takes takes;  // fields that its recipes state
    bool keeps_records; // the decoder needs to know which parts came together, so accumulators keep
                        // the distinct records
    bool is_permanent;  // randomize reads `permanent`
    // Makes recipe->parts, prepared, n_parts and value_part from the recipe's fields. On
    // SHOAL_ERR_RANGE it names the field in *field, as prepare of shoal_mechanism does.
    //   cells: cells of the recipe's encoding, or 0 if it has none
    shoal_err (*expand)(shoal_recipe *recipe, uint32_t cells, const char **field);
    // Writes a record of a string; NULL if items are cells.
    // Privacy: the recipe's cost, for any two strings.
    void (*randomize)(uint8_t *record, const shoal_recipe *recipe, const uint8_t *bytes, size_t len,
                      const shoal_permanent *permanent, shoal_rng *rng);
} shoal_compound;

#define SHOAL_COMPOUND(id, stem, name) extern const shoal_compound shoal_##stem##_compound;
#include "compounds.def"
#undef SHOAL_COMPOUND

// Returns: the compound with that id or name, or NULL if this build does not carry it.
const shoal_compound *shoal_compound_by_id(uint32_t id);
const shoal_compound *shoal_compound_by_name(const char *name, size_t len);

// Returns: the static name of the recipe's mechanism, whether a compound or not.
const char *shoal_recipe_mechanism_name(const shoal_recipe *recipe);

#endif
