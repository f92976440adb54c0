// SPDX-License-Identifier: Apache-2.0
// Making a recipe: a host hands every scalar of its JSON to a builder under its dotted path
// ("parameters.epsilon"), then finishes it.
//
// The rows of recipe_fields.def are the only place that knows names, types, ranges and defaults.
// Numbers arrive in micro-units (4 is 4,000,000), so that no float enters the core: a host converts
// a JSON number x by v = round(x * 1e6), and refuses x unless |x| <= 9e12 and (double)v / 1e6 == x.
#ifndef SHOAL_BUILDER_H
#define SHOAL_BUILDER_H

#include "recipe.h"
#include "sha256.h"

// A recipe that is being made. Only the error members are for hosts to read.
typedef struct shoal_recipe_builder {
    shoal_recipe recipe;     // as far as it is set; not finished
    const char *error_field; // static path of the field that the last error is about, or NULL
    const char *error_text;  // static sentence, or NULL
    uint32_t error_variable; // 1 + index of the variable that the error is about, or 0
    uint32_t at_variable; // 1 + index of the variable whose fields are being set; 0: the recipe's
    uint32_t cells;       // of the encoding; 0 where there is none
    shoal_sha256 values_sha; // over the entries of parameters.values so far
    bool is_refused;         // a field was refused: the recipe cannot be finished
} shoal_recipe_builder;

// Starts an empty recipe with every default in place.
void shoal_builder_init(shoal_recipe_builder *builder);

// Sets one field. On an error `error_field`, `error_text` and `error_variable` say where and why,
// and the builder is of no further use.
//   path: dotted JSON path, path_len bytes. Fields of variable N of a joint recipe, counted from 0
//         in order, are under "variables.N.": name, value, mechanism, parameters.*, hash, seed. All
//         fields of a variable come before the first field of the next.
//   micro: the number in micro-units
// Returns: UNKNOWN_FIELD, DUPLICATE, TYPE (a string where a number belongs, a broken id, date or
// hex), RANGE.
shoal_err shoal_builder_set_number(shoal_recipe_builder *builder, const char *path, size_t path_len,
                                   int64_t micro) SHOAL_MUST_CHECK;
shoal_err shoal_builder_set_string(shoal_recipe_builder *builder, const char *path, size_t path_len,
                                   const char *text, size_t len) SHOAL_MUST_CHECK;

// Adds the next entry of a list: encoding.N.boundaries (numbers); parameters.values,
// encoding.N.values, encoding.N.prefixes, encoding.N.tokens, encoding.N.starts,
// encoding.N.characters, split_by.N.values, part, parameters.known, variables.N.parameters.values
// (texts). N counts from 0 in order. The host, which has the memory to see them, refuses entries
// that come twice, and an entry of `part` that is neither in split_by.N.values nor "other".
shoal_err shoal_builder_add_text(shoal_recipe_builder *builder, const char *path, size_t path_len,
                                 const char *text, size_t len) SHOAL_MUST_CHECK;
shoal_err shoal_builder_add_number(shoal_recipe_builder *builder, const char *path, size_t path_len,
                                   int64_t micro) SHOAL_MUST_CHECK;

// Adds the next entry of parameters.values.
shoal_err shoal_builder_add_value(shoal_recipe_builder *builder, const char *text,
                                  size_t len) SHOAL_MUST_CHECK;

// Checks the whole recipe, prepares its parts and computes its hashes.
//   recipe: written on OK; may be &builder->recipe, where the host keeps the builder for it
// Returns: ARGUMENT where a field was refused before; else what is wrong, as the setters do.
shoal_err shoal_builder_finish(shoal_recipe *recipe,
                               shoal_recipe_builder *builder) SHOAL_MUST_CHECK;

// Finds the range of a field that shoal_builder_set_number sets, for a host that says what was
// refused. A mechanism may take less.
//   min_micro, max_micro: both ends, in micro-units; written where there is a range
// Returns: whether `path` is such a field. parameters.low and .high have no range.
bool shoal_builder_range(int64_t *min_micro, int64_t *max_micro, const char *path, size_t path_len);

#endif
