// SPDX-License-Identifier: Apache-2.0
// Writes the recipe of a part; see recipe_part.h.
#include "recipe_part.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print_text.h"
#include "recipe.h"
#include "recipe_json.h"
#include "recipe_write.h"

// A recipe that was read is one object, which its last brace closes.
static void print_part(FILE *stream, const agg_recipe *recipe, const char *const *values,
                       int n_values)
{
    size_t end = recipe->json_len, last;
    while (recipe->json[end - 1] != '}') end--;
    for (last = end - 1; recipe->json[last - 1] > 0 && recipe->json[last - 1] <= ' ';) last--;
    fwrite(recipe->json, 1, last, stream);
    fputs(",\n  \"part\": [", stream);
    for (int i = 0; i < n_values; i++) {
        if (i > 0) fputs(", ", stream);
        agg_print_json_text(stream, values[i], strlen(values[i]));
    }
    fputs("]\n", stream);
    fwrite(recipe->json + end - 1, 1, recipe->json_len - end + 1, stream);
}

static agg_err check_and_write(agg_error *error, const agg_recipe *whole, const char *text,
                               size_t len, const char *output)
{
    agg_recipe part;
    agg_err err = agg_recipe_from_bytes(&part, error, "the part's recipe", text, len);
    if (err != SHOAL_OK) return err;
    if (memcmp(part.recipe->query_hash, whole->recipe->query_hash, 32) != 0)
        err = agg_fail(error, AGG_ERR_SIGNATURE, AGG_EXIT_RUNTIME, "the part is of another query");
    agg_recipe_release(&part);
    return err == SHOAL_OK ? recipe_write(error, output, text, len) : err;
}

static agg_err write_part(agg_error *error, const agg_recipe *recipe, const char *const *values,
                          int n_values, const char *output)
{
    char *text = NULL;
    size_t len = 0;
    if (recipe->recipe->n_splits == 0)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "recipe %s has no split_by: it has no parts", recipe->id);
    if (recipe->recipe->n_part > 0)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "recipe %s is a part already",
                        recipe->id);
    if (n_values != (int)recipe->recipe->n_splits)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "a part takes one value for each of the %u fields of split_by",
                        recipe->recipe->n_splits);
    FILE *stream = open_memstream(&text, &len);
    if (stream == NULL) return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "no memory");
    print_part(stream, recipe, values, n_values);
    agg_err err = fclose(stream) != 0
                      ? agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "no memory")
                      : check_and_write(error, recipe, text, len, output);
    free(text);
    return err;
}

agg_err recipe_part(agg_error *error, const char *path, const char *const *values, int n_values,
                    const char *output)
{
    agg_recipe recipe;
    agg_err err = agg_recipe_from_file(&recipe, error, path);
    if (err != SHOAL_OK) return err;
    err = write_part(error, &recipe, values, n_values, output);
    agg_recipe_release(&recipe);
    return err;
}
