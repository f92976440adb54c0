// SPDX-License-Identifier: Apache-2.0
// Files of blocks; see store_files.h.
#include "store_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agg_size.h"

// ---- one file ----

// Returns: a string to free, or NULL with `error` filled.
static char *path_of(const agg_store *store, agg_error *error, const char *name)
{
    size_t size = strlen(store->database.folder) + strlen(name) + sizeof "/accumulators/";
    char *path = agg_alloc(error, size, 1);
    if (path != NULL) snprintf(path, size, "%s/accumulators/%s", store->database.folder, name);
    return path;
}

agg_err agg_store_file_load(agg_store *store, agg_accumulator *acc, agg_error *error,
                            const shoal_recipe *recipe, const char *name)
{
    char *path = path_of(store, error, name);
    if (path == NULL) return AGG_ERR_MEMORY;
    agg_err err = agg_accumulator_load(acc, error, path);
    if (err == SHOAL_OK) {
        err = agg_accumulator_check_recipe(acc, error, recipe);
        if (err != SHOAL_OK) agg_accumulator_release(acc);
    }
    free(path);
    return err;
}

agg_err agg_store_file_save(agg_store *store, const agg_accumulator *acc, agg_error *error,
                            const char *name)
{
    char *path = path_of(store, error, name);
    if (path == NULL) return AGG_ERR_MEMORY;
    agg_err err = agg_accumulator_save_private(acc, error, path);
    free(path);
    return err;
}

agg_err agg_store_file_peek(agg_store *store, bool *has_records, agg_error *error, const char *name)
{
    bool found = false;
    char *path = path_of(store, error, name);
    if (path == NULL) return AGG_ERR_MEMORY;
    agg_err err = agg_accumulator_peek(&found, error, path);
    free(path);
    *has_records = err == SHOAL_OK && found;
    return err;
}

void agg_store_file_remove(agg_store *store, const char *name)
{
    char *path = path_of(store, NULL, name);
    if (path == NULL) return;
    pthread_mutex_lock(&store->files_mutex);
    (void)unlink(path);
    pthread_mutex_unlock(&store->files_mutex);
    free(path);
}

// Returns: 0 for a file that a fold has just removed.
static uint64_t size_of_file(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 ? (uint64_t)about.st_size : 0;
}

static agg_err add_size(agg_store *store, uint64_t *bytes, agg_error *error, const char *name)
{
    char *path = name[0] == '\0' ? NULL : path_of(store, error, name);
    if (path == NULL) return name[0] == '\0' ? SHOAL_OK : AGG_ERR_MEMORY;
    *bytes += size_of_file(path);
    free(path);
    return SHOAL_OK;
}

agg_err agg_store_files_size(agg_store *store, uint64_t *bytes, agg_error *error,
                             int64_t collection)
{
    agg_block *list = NULL, open;
    size_t n = 0;
    *bytes = 0;
    agg_err err = agg_store_list_blocks(store, &list, &n, error, collection);
    for (size_t i = 0; err == SHOAL_OK && i < n; i++)
        err = add_size(store, bytes, error, list[i].file);
    free(list);
    if (err != SHOAL_OK) return err;
    pthread_mutex_lock(&store->db_mutex);
    err = agg_store_find_open(store, &open, error, collection);
    pthread_mutex_unlock(&store->db_mutex);
    return err == SHOAL_OK ? add_size(store, bytes, error, open.file) : err;
}

// ---- at open ----

// Finds whether the database names this file.
static agg_err find_name(agg_store *store, bool *is_named, agg_error *error, const char *name)
{
    int64_t found = 0;
    sqlite3_stmt *find = agg_database_bind(&store->database, STATEMENT_FILE_FIND, NULL, 0);
    sqlite3_bind_text(find, 1, name, -1, SQLITE_STATIC);
    agg_err err =
        agg_database_read_integer(&store->database, &found, error, find, "look for a file's name");
    *is_named = found != 0;
    return err;
}

// Folds wrote every file in the folder, so a file that the database does not name is unfinished or
// superseded.
static agg_err sweep(agg_store *store, agg_error *error, DIR *folder)
{
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        bool is_named = false;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        agg_err err = find_name(store, &is_named, error, entry->d_name);
        if (err != SHOAL_OK) return err;
        if (!is_named) (void)unlinkat(dirfd(folder), entry->d_name, 0);
    }
    return SHOAL_OK;
}

static agg_err check_file(agg_store *store, agg_error *error, const char *name)
{
    char *path = name == NULL ? NULL : path_of(store, error, name);
    if (path == NULL) return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "out of memory");
    agg_err err = SHOAL_OK;
    if (access(path, R_OK) != 0)
        err = agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: %s", path, strerror(errno));
    if (err == SHOAL_OK) err = agg_file_keep_private(error, path);
    free(path);
    return err;
}

// Refuses a store whose files are missing: it would answer with less than was acknowledged. Files
// of earlier versions have the mode that the umask left them; they become private.
static agg_err check_files(agg_store *store, agg_error *error)
{
    sqlite3_stmt *all = agg_database_bind(&store->database, STATEMENT_FILES, NULL, 0);
    agg_err err = SHOAL_OK;
    bool is_row = true;
    while (err == SHOAL_OK) {
        err = agg_database_step(&store->database, &is_row, error, all, "list accumulators");
        if (err != SHOAL_OK || !is_row) break;
        err = check_file(store, error, (const char *)sqlite3_column_text(all, 0));
    }
    agg_statement_end(all);
    return err;
}

static agg_err open_folder(agg_store *store, agg_error *error, const char *path)
{
    agg_err err = agg_folder_make(error, path);
    if (err == SHOAL_OK) err = agg_folder_sync(error, store->database.folder);
    if (err != SHOAL_OK) return err;
    DIR *folder = opendir(path);
    if (folder == NULL)
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: %s", path, strerror(errno));
    err = sweep(store, error, folder);
    closedir(folder);
    return err;
}

agg_err agg_store_files_open(agg_store *store, agg_error *error)
{
    char *path = agg_folder_join(error, store->database.folder, "accumulators");
    if (path == NULL) return AGG_ERR_MEMORY;
    agg_err err = open_folder(store, error, path);
    free(path);
    return err == SHOAL_OK ? check_files(store, error) : err;
}
