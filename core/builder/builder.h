// SPDX-License-Identifier: Apache-2.0
// A builder makes a recipe. The host passes it every scalar of the recipe's JSON under its dotted
// path ("parameters.epsilon"), and then finishes the recipe.
//
// Names, types, ranges and defaults are only in the rows of recipe_fields.def. Numbers arrive in
// micro-units (4 is 4,000,000), so that no float enters the core. A host converts a JSON number x
// by v = round(x * 1e6), and refuses x unless |x| <= 9e12 and (double)v / 1e6 == x.
#ifndef SHOAL_BUILDER_H
#define SHOAL_BUILDER_H

#include "recipe.h"
#include "sha256.h"

// A recipe under construction. Hosts read only the error members.
typedef struct shoal_recipe_builder {
    shoal_recipe recipe;     // the fields set so far; not finished
    const char *error_field; // static path of the field of the last error, or NULL
    const char *error_text;  // static sentence, or NULL
    uint32_t error_variable; // 1 + index of the variable of the last error, or 0
    uint32_t at_variable;    // 1 + index of the variable whose fields are being set, or 0
    uint32_t needs, domain;  // the mechanism's, once it is known
    uint32_t cells;          // cells of the encoding, or 0 without one
    shoal_sha256 values_sha; // over the entries of parameters.values so far
    bool is_refused;         // a field was refused, so the recipe cannot be finished
} shoal_recipe_builder;

// Starts an empty recipe with every field at its default.
void shoal_builder_init(shoal_recipe_builder *builder);

// Sets one field. On an error, `error_field`, `error_text` and `error_variable` say where and why,
// and the builder can only be initialized again.
//   path: dotted JSON path of path_len bytes. Fields of variable N of a joint recipe are under
//     "variables.N.": name, value, mechanism, parameters.*, hash, seed. Variables are counted from
//     0 in order, and all fields of one come before the first field of the next.
//   micro: the number in micro-units
// Returns: UNKNOWN_FIELD, DUPLICATE, TYPE (a string where a number belongs, a broken id, date or
// hex), RANGE.
shoal_err shoal_builder_set_number(shoal_recipe_builder *builder, const char *path, size_t path_len,
                                   int64_t micro) SHOAL_MUST_CHECK;
shoal_err shoal_builder_set_string(shoal_recipe_builder *builder, const char *path, size_t path_len,
                                   const char *text, size_t len) SHOAL_MUST_CHECK;

// Adds the next entry of a list.
//   path: for numbers, encoding.N.boundaries. For texts, parameters.values, encoding.N.values,
//     encoding.N.prefixes, encoding.N.tokens, encoding.N.starts, encoding.N.characters,
//     split_by.N.values, part, parameters.known, variables.N.parameters.values. N counts from 0 in
//     order
// The host keeps the lists in memory, so the host refuses repeated entries, and an entry of `part`
// that is neither in split_by.N.values nor "other".
shoal_err shoal_builder_add_text(shoal_recipe_builder *builder, const char *path, size_t path_len,
                                 const char *text, size_t len) SHOAL_MUST_CHECK;
shoal_err shoal_builder_add_number(shoal_recipe_builder *builder, const char *path, size_t path_len,
                                   int64_t micro) SHOAL_MUST_CHECK;

// Adds the next entry of parameters.values.
shoal_err shoal_builder_add_value(shoal_recipe_builder *builder, const char *text,
                                  size_t len) SHOAL_MUST_CHECK;

// Checks the complete recipe, prepares its parts and computes its hashes.
//   recipe: written on OK; may be &builder->recipe if the host keeps the builder alive
// Returns: ARGUMENT if a field was refused before, else the errors of the setters.
shoal_err shoal_builder_finish(shoal_recipe *recipe,
                               shoal_recipe_builder *builder) SHOAL_MUST_CHECK;

// Finds the range of a field that shoal_builder_set_number sets, for a host that explains a
// refusal. A mechanism may accept less.
//   min_micro, max_micro: both ends, in micro-units; written if the field has a range
// Returns: whether `path` is such a field. parameters.low and .high have no range.
bool shoal_builder_range(int64_t *min_micro, int64_t *max_micro, const char *path, size_t path_len);

#endif
