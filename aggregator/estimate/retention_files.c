// SPDX-License-Identifier: Apache-2.0
// Reads the weeks of a retention; see retention_files.h.
#include "retention_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"

#define LABEL_MAX 32u // bytes of "week 520" and more

static bool has_file(const agg_retention_files *files, size_t week)
{
    return strcmp(files->paths[week], AGG_RETENTION_NO_FILE) != 0;
}

static agg_text name_of_file(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    size_t len = strlen(name);
    if (len > 4 && strcmp(name + len - 4, ".acc") == 0) len -= 4;
    return (agg_text){name, len};
}

// Labels every week by its file, or by its place where it has none.
static void make_labels(agg_retention_files *files)
{
    for (size_t i = 0; i < files->n; i++) {
        char *own = files->names + i * LABEL_MAX;
        int len = snprintf(own, LABEL_MAX, "week %zu", i + 1);
        files->weeks[i].label =
            has_file(files, i) ? name_of_file(files->paths[i]) : (agg_text){own, (size_t)len};
    }
}

static agg_err take_labels(agg_retention_files *files, agg_error *error, const char *labels)
{
    size_t n = 1;
    for (const char *at = labels; *at != '\0'; at++) n += *at == ',';
    if (n != files->n)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "--weeks has %zu label%s, and there %s %zu accumulator%s", n,
                        n == 1 ? "" : "s", files->n == 1 ? "is" : "are", files->n,
                        files->n == 1 ? "" : "s");
    for (size_t i = 0; i < n; i++) {
        size_t len = strcspn(labels, ",");
        if (len == 0)
            return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "label %zu of --weeks is empty",
                            i + 1);
        files->weeks[i].label = (agg_text){labels, len};
        labels += len + 1;
    }
    return SHOAL_OK;
}

agg_err agg_retention_files_open(agg_retention_files *files, agg_error *error,
                                 const char *recipe_path, const char *const *paths, size_t n,
                                 const char *labels)
{
    size_t n_ages = 0;
    agg_text or_more;
    *files = (agg_retention_files){.n = n, .paths = paths};
    agg_err err = agg_recipe_from_file(&files->recipe, error, recipe_path);
    if (err == SHOAL_OK) err = agg_retention_ages(&n_ages, &or_more, error, &files->recipe);
    if (err != SHOAL_OK) return err;
    files->weeks = agg_alloc(error, n, sizeof *files->weeks);
    files->accumulators = agg_alloc(error, n, sizeof *files->accumulators);
    files->names = agg_alloc(error, n, LABEL_MAX);
    if (files->weeks == NULL || files->accumulators == NULL || files->names == NULL)
        return AGG_ERR_MEMORY;
    make_labels(files);
    return labels != NULL ? take_labels(files, error, labels) : SHOAL_OK;
}

agg_err agg_retention_files_load(agg_retention_files *files, agg_error *error,
                                 agg_wholeness wholeness)
{
    agg_err err = SHOAL_OK;
    for (size_t i = 0; i < files->n && err == SHOAL_OK; i++) {
        if (!has_file(files, i)) continue;
        err = agg_accumulator_load_result(&files->accumulators[i], error, files->paths[i],
                                          files->recipe.recipe, wholeness);
        if (err == SHOAL_OK) files->weeks[i].acc = &files->accumulators[i];
    }
    return err;
}

void agg_retention_files_release(agg_retention_files *files)
{
    for (size_t i = 0; files->weeks != NULL && i < files->n; i++)
        if (files->weeks[i].acc != NULL) agg_accumulator_release(&files->accumulators[i]);
    free(files->weeks);
    free(files->accumulators);
    free(files->names);
    agg_recipe_release(&files->recipe);
    *files = (agg_retention_files){0};
}
