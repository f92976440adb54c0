// SPDX-License-Identifier: Apache-2.0
// Files of periods; see period_files.h.
#include "period_files.h"

#include <stdlib.h>
#include <string.h>

#include "domain_dictionary.h"

static agg_err check_names(agg_error *error, const agg_period_names *names)
{
    if (names->n_recipes != 1 && names->n_recipes != names->n)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "%zu recipes and %zu accumulators: give one --recipe, or one for each",
                        names->n_recipes, names->n);
    if (names->n_labels != 0 && names->n_labels != names->n)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "%zu labels and %zu accumulators: give one --label for each, or none",
                        names->n_labels, names->n);
    if (names->n > AGG_CHANGES_PERIODS_MAX)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "%zu accumulators are more than %u periods", names->n,
                        AGG_CHANGES_PERIODS_MAX);
    for (size_t t = 0; t < names->n; t++)
        for (size_t u = 0; u < t; u++)
            if (strcmp(names->accumulators[t], names->accumulators[u]) == 0)
                return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "%s is given twice",
                                names->accumulators[t]);
    return SHOAL_OK;
}

// Returns: the name of a file without its folder and .acc.
static agg_text label_of_path(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
    size_t len = strlen(name);
    if (len > 4 && strcmp(name + len - 4, ".acc") == 0) len -= 4;
    return (agg_text){name, len};
}

static bool is_same_list(const agg_dictionary *a, const agg_dictionary *b)
{
    bool is_same = a->n == b->n;
    for (size_t i = 0; is_same && i < a->n; i++)
        is_same = agg_text_compare(a->values[i], b->values[i]) == 0;
    return is_same;
}

// Reads recipe r and its dictionary. Remarks on the file are logged for the first recipe only.
static agg_err read_recipe(agg_period_files *files, agg_error *error, const agg_period_names *names,
                           size_t r)
{
    agg_recipe *recipe = &files->recipes[r];
    agg_dictionary *dictionary = &files->dictionaries[r];
    agg_err err = agg_recipe_from_file(recipe, error, names->recipes[r]);
    if (err != SHOAL_OK) return err;
    if (names->dictionary != NULL)
        err = agg_dictionary_load(dictionary, error, recipe, names->dictionary,
                                  r == 0 ? agg_log_line : NULL, r == 0 ? names->command : NULL);
    else
        err = agg_dictionary_of_recipe(dictionary, error, recipe);
    if (err != SHOAL_OK || is_same_list(dictionary, &files->dictionaries[0])) return err;
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                    "the list of %s is not that of %s; --dictionary says which values to follow",
                    names->recipes[r], names->recipes[0]);
}

agg_err agg_period_files_open(agg_period_files *files, agg_error *error,
                              const agg_period_names *names)
{
    *files = (agg_period_files){
        .n = names->n, .n_recipes = names->n_recipes, .paths = names->accumulators};
    agg_err err = check_names(error, names);
    if (err != SHOAL_OK) return err;
    files->periods = calloc(names->n, sizeof *files->periods);
    files->accumulators = calloc(names->n, sizeof *files->accumulators);
    files->recipes = calloc(names->n_recipes, sizeof *files->recipes);
    files->dictionaries = calloc(names->n_recipes, sizeof *files->dictionaries);
    if (files->periods == NULL || files->accumulators == NULL || files->recipes == NULL ||
        files->dictionaries == NULL)
        err = agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "out of memory");
    for (size_t r = 0; err == SHOAL_OK && r < names->n_recipes; r++)
        err = read_recipe(files, error, names, r);
    for (size_t t = 0; err == SHOAL_OK && t < names->n; t++) {
        size_t r = names->n_recipes == 1 ? 0 : t;
        agg_text label = names->n_labels > 0
                             ? (agg_text){names->labels[t], strlen(names->labels[t])}
                             : label_of_path(names->accumulators[t]);
        files->periods[t] = (agg_changes_period){label, &files->recipes[r], &files->accumulators[t],
                                                 &files->dictionaries[r]};
    }
    if (err != SHOAL_OK) agg_period_files_release(files);
    return err;
}

agg_err agg_period_files_load(agg_period_files *files, agg_error *error, agg_wholeness wholeness)
{
    for (size_t t = 0; t < files->n; t++) {
        agg_err err = agg_accumulator_load_result(&files->accumulators[t], error, files->paths[t],
                                                  files->periods[t].recipe->recipe, wholeness);
        if (err != SHOAL_OK) return err;
    }
    return SHOAL_OK;
}

void agg_period_files_release(agg_period_files *files)
{
    for (size_t t = 0; files->accumulators != NULL && t < files->n; t++)
        agg_accumulator_release(&files->accumulators[t]);
    for (size_t r = 0; r < files->n_recipes; r++) {
        if (files->dictionaries != NULL) agg_dictionary_release(&files->dictionaries[r]);
        if (files->recipes != NULL) agg_recipe_release(&files->recipes[r]);
    }
    free(files->periods);
    free(files->accumulators);
    free(files->recipes);
    free(files->dictionaries);
    *files = (agg_period_files){0};
}
