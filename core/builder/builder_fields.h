// SPDX-License-Identifier: Apache-2.0
// Sets single fields of a recipe under construction. The header is private to the core.
#ifndef SHOAL_BUILDER_FIELDS_H
#define SHOAL_BUILDER_FIELDS_H

#include "builder.h"
#include "recipe_fields.h"
#include "sentence.h"

// The functions that set and check a field that is not a scalar, a row SHOAL_OWN of
// recipe_fields.def. A function is NULL if the field takes no such entry.
typedef struct shoal_setter {
    shoal_err (*set_string)(shoal_recipe_builder *builder, const char *path, size_t path_len,
                            const char *text, size_t len);
    shoal_err (*set_number)(shoal_recipe_builder *builder, const char *path, size_t path_len,
                            int64_t micro);
    shoal_err (*add_text)(shoal_recipe_builder *builder, const char *path, size_t path_len,
                          const char *text, size_t len);
    shoal_err (*add_number)(shoal_recipe_builder *builder, const char *path, size_t path_len,
                            int64_t micro);
    shoal_err (*close)(shoal_recipe_builder *builder); // runs first when the recipe is finished
    shoal_err (*check)(
        shoal_recipe_builder *builder); // runs after the mechanism's fields are checked
} shoal_setter;

// Records an error. Returns: err.
static inline shoal_err shoal_builder_refuse(shoal_recipe_builder *builder, const char *path,
                                             shoal_err err, const char *text)
{
    builder->error_field = path;
    builder->error_text = SHOAL_SENTENCE(text);
    builder->error_variable = builder->at_variable;
    builder->is_refused = true;
    builder->recipe.n_parts = 0;
    return err;
}

// Returns: OK, or err after recording it.
static inline shoal_err shoal_builder_answer(shoal_recipe_builder *builder, const char *path,
                                             shoal_err err, const char *text)
{
    return err == SHOAL_OK ? SHOAL_OK : shoal_builder_refuse(builder, path, err, text);
}

// Returns: whether row i belongs to variables while the recipe's own fields are set or checked, or
// to the recipe while a variable's fields are. Recipes without variables have every row.
bool shoal_builder_is_misplaced(const shoal_recipe_builder *builder, size_t i);

// Marks a field as stated.
//   row: written on OK
// Returns: UNKNOWN_FIELD if there is no such row, DUPLICATE if the field was stated before.
shoal_err shoal_builder_state(const shoal_recipe_row **row, shoal_recipe_builder *builder,
                              const char *path, size_t path_len) SHOAL_MUST_CHECK;

// Marks a list as stated; its first entry states it.
//   is_first: whether the list was empty
shoal_err shoal_builder_state_list(shoal_recipe_builder *builder, const char *path,
                                   bool is_first) SHOAL_MUST_CHECK;

// Sets a scalar.
shoal_err shoal_builder_scalar_number(shoal_recipe_builder *builder, const char *path,
                                      size_t path_len, int64_t micro) SHOAL_MUST_CHECK;
shoal_err shoal_builder_scalar_string(shoal_recipe_builder *builder, const char *path,
                                      size_t path_len, const char *text,
                                      size_t len) SHOAL_MUST_CHECK;

// The `set_number` of a field that is a string. It marks the field as stated and refuses the
// number.
shoal_err shoal_builder_refuse_number(shoal_recipe_builder *builder, const char *path,
                                      size_t path_len, int64_t micro) SHOAL_MUST_CHECK;

// Reads a path "HEAD.N.".
//   rest: the path after "HEAD.N.", of rest_len bytes; written on success
// Returns: N, at most 9, or UINT32_MAX for another path.
uint32_t shoal_path_entry(const char *head, const char *path, size_t len, const char **rest,
                          size_t *rest_len);

#endif
