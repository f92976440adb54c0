// SPDX-License-Identifier: Apache-2.0
// Reads a recipe file (JSON) into the core's recipe, and keeps the lists of strings, which the core
// does not keep.
//
// The JSON is walked once (json_walk.h): every scalar goes to shoal_builder_set_*, every entry of a
// list to shoal_builder_add_*. Unknown, repeated and wrongly typed fields are refused with the name
// of the file and of the field. Lists are kept in order, with an index for look-ups; those of a
// joint recipe by variable. A repeated entry is refused, and so is a `part` that its split field
// does not list.
//
// encoding.N.starts, encoding.N.characters and parameters.known may each be written as one string
// (front_coded.h), which makes the same recipe. The member `signature` is not a field and not in
// the hash. It is kept unchecked for recipe_signature.h; a malformed one is refused.
#ifndef RECIPE_JSON_H
#define RECIPE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"
#include "recipe.h"
#include "text_list.h"

#define AGG_RECIPE_FILE_MAX ((size_t)1 << 20) // bytes of a recipe file

typedef struct agg_recipe {
    shoal_recipe recipe;
    char id[SHOAL_NAME_MAX + 1]; // recipe.key, NUL-terminated
    char hash_hex[65];           // recipe.recipe_hash, NUL-terminated
    char *json;                  // the file as it was read, json_len bytes and a NUL
    size_t json_len;
    // The recipe's lists; a list that the recipe does not have is empty.
    agg_list values;                                        // parameters.values
    agg_list lists[SHOAL_ENCODED_MAX][SHOAL_ENCODED_LISTS]; // of each field of the encoding, by
                                                            // enum shoal_encoded_list
    agg_list splits[SHOAL_SPLIT_MAX];                       // split_by's values
    agg_list known;                                         // parameters.known
    agg_list variables[SHOAL_VARIABLES_MAX];                // parameters.values of each variable
    bool has_signature;
    uint8_t key[32];       // if has_signature: the Ed25519 key that it names
    uint8_t signature[64]; // if has_signature: as it was read, good or bad
} agg_recipe;

// Reads a recipe. On error nothing is left to release, and the error's text begins with `name` or
// the path.
//   name: the name of the bytes in errors
agg_err agg_recipe_from_bytes(agg_recipe *recipe, agg_error *error, const char *name,
                              const char *bytes, size_t len) SHOAL_MUST_CHECK;
agg_err agg_recipe_from_file(agg_recipe *recipe, agg_error *error,
                             const char *path) SHOAL_MUST_CHECK;
void agg_recipe_release(agg_recipe *recipe);

// Returns: whether the recipe's values are a closed list of texts or of indices; false for a recipe
// with several variables.
bool agg_recipe_is_closed(const agg_recipe *recipe);

// Finds the item of a text in the part of whole values (recipe.value_part):
//   - in an open domain, its fingerprint;
//   - in a list, its index in `values`;
//   - in a list of which only the size is known, the index that the text writes in decimal, without
//     a sign or a leading zero;
//   - for numbers, the place of the number.
// Returns: false if a closed domain does not contain the text.
bool agg_recipe_item(uint64_t *item, const agg_recipe *recipe, const char *bytes, size_t len);

// Returns: the index of a joint recipe's variable with that name, or recipe.n_variables.
uint32_t agg_recipe_find_variable(const agg_recipe *recipe, const char *name, size_t len);

// Finds the item of a text under variable i of a joint recipe, as agg_recipe_item does.
//   i: below recipe.n_variables
bool agg_recipe_variable_item(uint64_t *item, const agg_recipe *recipe, uint32_t i,
                              const char *bytes, size_t len);

// Returns: whether the values of variable i of a joint recipe are a closed list.
static inline bool agg_recipe_variable_is_closed(const agg_recipe *recipe, uint32_t i)
{
    return recipe->recipe.parts[i].domain != SHOAL_DOMAIN_OPEN;
}

// Makes a view of variable i of a joint recipe as a recipe of one value, for look-ups, dictionaries
// and counts. Its `value_part` is i.
//   view: borrows everything from `recipe`, which must outlive it; do not release it
void agg_recipe_of_variable(agg_recipe *view, const agg_recipe *recipe, uint32_t i);

// Reads a decimal number such as -12.5: up to 12 digits, a point and up to 6 more; no exponent.
// Returns: false if the text is not such a number.
bool agg_decimal_micro(int64_t *micro, const char *bytes, size_t len);

#define AGG_MICRO_MAX 32 // bytes of a printed number, with a NUL

// Writes millionths as a decimal without trailing zeros. Returns: its length.
int agg_micro_print(char out[AGG_MICRO_MAX], int64_t micro);

// Writes 2 * len lower-case hex digits and a NUL.
void agg_hex(char *out, const uint8_t *bytes, size_t len);

// Reads 2 * len lower-case hex digits and nothing else.
//   text: NUL-terminated
// Returns: false for any other text.
bool agg_unhex(uint8_t *bytes, size_t len, const char *text);

#endif
