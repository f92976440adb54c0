// SPDX-License-Identifier: Apache-2.0
// The part of a recipe that only queries have, as recipe.c calls it. Private to the core; a module
// built with SHOAL_WITHOUT_QUERIES has none of it, and such a recipe is refused there.
#ifndef SHOAL_RECIPE_QUERY_H
#define SHOAL_RECIPE_QUERY_H

#include "canonical.h"
#include "recipe.h"
#include "sentence.h"

static inline shoal_err shoal_recipe_refuse(shoal_recipe *recipe, const char *path, shoal_err err,
                                            const char *text)
{
    recipe->error_field = path;
    recipe->error_text = SHOAL_SENTENCE(text);
    recipe->error_variable = recipe->at_variable;
    recipe->n_parts = 0;
    return err;
}

// Reads "HEAD.N.": Returns: N, at most 9, or UINT32_MAX where the path is another; *rest is what
// follows, of *rest_len bytes.
uint32_t shoal_path_entry(const char *head, const char *path, size_t len, const char **rest,
                          size_t *rest_len);

// Sets encoding.N.field or split_by.N.field. Returns: whether the path is one of them; then *err is
// the answer.
int shoal_query_set_string(shoal_recipe *recipe, const char *path, size_t path_len,
                           const char *text, size_t len, shoal_err *err);

// The same of encoding.N.step.
int shoal_query_set_number(shoal_recipe *recipe, const char *path, size_t path_len, int64_t micro,
                           shoal_err *err);

// Checks what is the query's and writes key.
//   cells: of the encoding; written
shoal_err shoal_query_finish(shoal_recipe *recipe, uint32_t *cells) SHOAL_MUST_CHECK;

// Writes its lists.
void shoal_query_put(shoal_canonical *w, const shoal_recipe *recipe, int with_part);

#endif
