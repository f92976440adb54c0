// SPDX-License-Identifier: Apache-2.0
// A recipe file (JSON) as the core's recipe, with the list of values that the core does not keep.
//
// The JSON is walked once (json_walk.h): every scalar goes to shoal_recipe_set_*, every entry of a
// list to shoal_recipe_add_*. Unknown, doubled and wrongly typed fields are refused with the file's
// and the field's name. Lists of strings are kept here, in order, with an index for look-ups, those
// of a joint recipe by variable; an entry given twice is refused, and a `part` that its split field
// does not list. encoding.N.starts, encoding.N.characters and parameters.known may be one string
// each (front_coded.h), which is the same recipe. `signature` at the top is no field: it is taken
// off here, in no hash, and kept unchecked for recipe_signature.h; one that is malformed is
// refused.
#ifndef RECIPE_JSON_H
#define RECIPE_JSON_H

#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"
#include "encoding.h"
#include "name.h"
#include "recipe_ref.h"
#include "text_list.h"

#define AGG_RECIPE_FILE_MAX ((size_t)1 << 20) // bytes of a recipe file

typedef struct agg_recipe {
    const shoal_recipe *recipe;  // finished; released with the rest
    char id[SHOAL_NAME_MAX + 1]; // recipe->key, NUL-terminated
    char hash_hex[65];           // recipe->recipe_hash, NUL-terminated
    char *json;                  // the file as it was read, json_len bytes and a NUL
    size_t json_len;
    agg_list values; // parameters.values; empty when the recipe has none, as are those below
    agg_list lists[SHOAL_ENCODED_MAX][SHOAL_ENCODED_LISTS]; // of each field of the encoding, by
                                                            // enum shoal_encoded_list
    agg_list splits[SHOAL_SPLIT_MAX];                       // split_by's values
    agg_list known;                                         // parameters.known
    agg_list variables[SHOAL_VARIABLES_MAX];                // parameters.values of each variable
    int has_signature;
    uint8_t key[32];       // where it has one: the Ed25519 key that it names
    uint8_t signature[64]; // as it was read, good or bad
} agg_recipe;

// Reads a recipe. On error nothing is left to release; the text starts with `name` or the path.
//   name: what an error calls the bytes
agg_err agg_recipe_from_bytes(agg_recipe *recipe, agg_error *error, const char *name,
                              const char *bytes, size_t len) SHOAL_MUST_CHECK;
agg_err agg_recipe_from_file(agg_recipe *recipe, agg_error *error,
                             const char *path) SHOAL_MUST_CHECK;
void agg_recipe_release(agg_recipe *recipe);

// Returns: whether the recipe's values are a known list (or indices), not any string; of several
// variables there is no one list.
int agg_recipe_is_closed(const agg_recipe *recipe);

// The item of a text in the part of whole values (shoal_recipe_value_part): its fingerprint (open
// domain), its index in `values`, where the recipe has a `size` only, the index it writes in
// decimal (no sign, no leading zero), or, where `value` is "number", the place of the number.
// Returns: 0 when a closed domain does not hold the text, else 1.
int agg_recipe_item(uint64_t *item, const agg_recipe *recipe, const char *bytes, size_t len);

// Returns: the index of the variable of that name of a joint recipe, or recipe->n_variables.
uint32_t agg_recipe_find_variable(const agg_recipe *recipe, const char *name, size_t len);

// The item of a text under variable i of a joint recipe, as agg_recipe_item's.
//   i: below recipe->n_variables
int agg_recipe_variable_item(uint64_t *item, const agg_recipe *recipe, uint32_t i,
                             const char *bytes, size_t len);

// Returns: whether variable i of a joint recipe is a known list, not any string.
static inline int agg_recipe_variable_is_closed(const agg_recipe *recipe, uint32_t i)
{
    return shoal_recipe_part(recipe->recipe, i)->domain != SHOAL_DOMAIN_OPEN;
}

// Makes a view of variable i of a joint recipe as a recipe of one value, for look-ups, dictionaries
// and counts. Its `value_part` is i. It borrows its lists from `recipe`, which must outlive it.
// Returns: the view, which the caller frees with free alone; NULL with `error` filled on failure.
agg_recipe *agg_recipe_of_variable(agg_error *error, const agg_recipe *recipe, uint32_t i);

// Reads a decimal number such as -12.5: up to 12 digits, a point and up to 6 more; no exponent.
// Returns: 0 when it is none.
int agg_decimal_micro(int64_t *micro, const char *bytes, size_t len);

#define AGG_MICRO_MAX 32 // bytes of a number in print, with its NUL

// Writes millionths as a decimal without spare zeros. Returns: its length.
int agg_micro_print(char out[AGG_MICRO_MAX], int64_t micro);

// Writes 2 * len lower-case hex digits and a NUL.
void agg_hex(char *out, const uint8_t *bytes, size_t len);

// Reads 2 * len lower-case hex digits and nothing else.
// Returns: 0 when the NUL-terminated text is none.
int agg_unhex(uint8_t *bytes, size_t len, const char *text);

#endif
