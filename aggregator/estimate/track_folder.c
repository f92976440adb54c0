// SPDX-License-Identifier: Apache-2.0
// Reads epochs from files; see track_folder.h.
#include "track_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "recipe_json.h"

#define NAME_MAX_DIGITS 9

agg_err agg_track_add_files(agg_track *track, agg_error *error, const char *recipe_path,
                            const char *path)
{
    agg_recipe recipe;
    agg_accumulator acc;
    agg_err err = agg_recipe_from_file(&recipe, error, recipe_path);
    if (err != SHOAL_OK) return err;
    err = agg_accumulator_load_result(&acc, error, path, recipe.recipe, AGG_WHOLE_ONLY);
    if (err == SHOAL_OK) {
        err = agg_track_add(track, error, path, &recipe, &acc);
        agg_accumulator_release(&acc);
    }
    agg_recipe_release(&recipe);
    return err;
}

typedef struct folder {
    const char *path;
    char **names; // file names without ".recipe.json"
    size_t n, cap;
} folder;

static int by_number(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    unsigned long p = strtoul(x, NULL, 10), q = strtoul(y, NULL, 10);
    return p != q ? (p < q ? -1 : 1) : strcmp(x, y);
}

// Takes a file name that is a number and ".recipe.json"; ignores any other.
static agg_err take_name(folder *f, agg_error *error, const char *name)
{
    size_t digits = strspn(name, "0123456789");
    if (digits == 0 || digits > NAME_MAX_DIGITS || strcmp(name + digits, ".recipe.json") != 0)
        return SHOAL_OK;
    agg_err err = agg_grow((void **)&f->names, &f->cap, f->n + 1, sizeof *f->names, error);
    if (err != SHOAL_OK) return err;
    char *own = agg_alloc(error, digits + 1, 1);
    if (own == NULL) return AGG_ERR_MEMORY;
    memcpy(own, name, digits);
    f->names[f->n++] = own;
    return SHOAL_OK;
}

static agg_err list_folder(folder *f, agg_error *error)
{
    agg_err err = SHOAL_OK;
    DIR *dir = opendir(f->path);
    if (dir == NULL)
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: cannot be read: %s", f->path,
                        strerror(errno));
    for (const struct dirent *entry; err == SHOAL_OK && (entry = readdir(dir)) != NULL;)
        err = take_name(f, error, entry->d_name);
    closedir(dir);
    if (err == SHOAL_OK && f->n == 0)
        err = agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                       "%s: holds no epoch: nothing like 0001.recipe.json", f->path);
    if (err == SHOAL_OK) qsort(f->names, f->n, sizeof *f->names, by_number);
    return err;
}

// Returns: the text "FOLDER/NAME"; release with free.
static char *join(agg_error *error, const char *path, const char *name, const char *end)
{
    size_t size = strlen(path) + strlen(name) + strlen(end) + 2;
    char *out = agg_alloc(error, size, 1);
    if (out != NULL) snprintf(out, size, "%s/%s%s", path, name, end);
    return out;
}

agg_err agg_track_add_folder(agg_track *track, agg_error *error, const char *path)
{
    folder f = {.path = path};
    agg_err err = list_folder(&f, error);
    for (size_t i = 0; i < f.n && err == SHOAL_OK; i++) {
        char *recipe = join(error, path, f.names[i], ".recipe.json"),
             *acc = join(error, path, f.names[i], ".acc");
        err = recipe == NULL || acc == NULL ? AGG_ERR_MEMORY
                                            : agg_track_add_files(track, error, recipe, acc);
        free(recipe);
        free(acc);
    }
    for (size_t i = 0; i < f.n; i++) free(f.names[i]);
    free(f.names);
    return err;
}
