// SPDX-License-Identifier: Apache-2.0
// Files of accumulators; see store_files.h.
#include "store_files.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agg_size.h"

// ---- one file ----

static void file_name(char *out, size_t size, int64_t collection, agg_period period,
                      int64_t generation)
{
    static const char letters[] = {'a', 'd', 'w'};
    snprintf(out, size, "c%" PRId64 "-%c%" PRId32 "-g%" PRId64 ".acc", collection,
             letters[period.kind], period.start, generation);
}

// Returns: a string to free, or NULL with `error` filled.
static char *path_of(const agg_store *store, agg_error *error, int64_t collection,
                     agg_period period, int64_t generation)
{
    char name[80];
    file_name(name, sizeof name, collection, period, generation);
    size_t size = strlen(store->database.folder) + strlen(name) + sizeof "/accumulators/";
    char *path = agg_alloc(error, size, 1);
    if (path != NULL) snprintf(path, size, "%s/accumulators/%s", store->database.folder, name);
    return path;
}

agg_err agg_store_file_load(agg_store *store, agg_accumulator *acc, agg_error *error,
                            int64_t collection, const shoal_recipe *recipe, agg_period period,
                            int64_t generation)
{
    char *path = path_of(store, error, collection, period, generation);
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
                            int64_t collection, agg_period period, int64_t generation)
{
    char *path = path_of(store, error, collection, period, generation);
    if (path == NULL) return AGG_ERR_MEMORY;
    agg_err err = agg_accumulator_save(acc, error, path);
    free(path);
    return err;
}

agg_err agg_store_file_peek(agg_store *store, bool *has_records, agg_error *error,
                            int64_t collection, agg_period period, int64_t generation)
{
    bool found = false;
    char *path = path_of(store, error, collection, period, generation);
    if (path == NULL) return AGG_ERR_MEMORY;
    agg_err err = agg_accumulator_peek(&found, error, path);
    free(path);
    *has_records = err == SHOAL_OK && found;
    return err;
}

void agg_store_file_remove(agg_store *store, int64_t collection, agg_period period,
                           int64_t generation)
{
    char *path = path_of(store, NULL, collection, period, generation);
    if (path == NULL) return;
    pthread_mutex_lock(&store->files_mutex);
    (void)unlink(path);
    pthread_mutex_unlock(&store->files_mutex);
    free(path);
}

// ---- all files of a collection ----

// Reads all rows of a statement: kind, start, generation. Call with db_mutex held.
static agg_err list_rows(agg_store *store, agg_stored **list, size_t *n, agg_error *error,
                         sqlite3_stmt *statement)
{
    size_t cap = 0;
    for (;;) {
        bool is_row = false;
        agg_err err =
            agg_database_step(&store->database, &is_row, error, statement, "list accumulators");
        if (err != SHOAL_OK || !is_row) return err;
        err = agg_grow((void **)list, &cap, *n + 1, sizeof **list, error);
        if (err != SHOAL_OK) return err;
        agg_stored *one = &(*list)[*n];
        err = agg_store_read_period(store, &one->period, error, statement, 0);
        if (err != SHOAL_OK) return err;
        one->generation = sqlite3_column_int64(statement, 2);
        ++*n;
    }
}

agg_err agg_store_files_list(agg_store *store, agg_stored **list, size_t *n, agg_error *error,
                             int64_t collection)
{
    *list = NULL;
    *n = 0;
    pthread_mutex_lock(&store->db_mutex);
    sqlite3_stmt *statement =
        agg_database_bind(&store->database, STATEMENT_ACCUMULATORS, &collection, 1);
    agg_err err = list_rows(store, list, n, error, statement);
    agg_statement_end(statement);
    pthread_mutex_unlock(&store->db_mutex);
    return err;
}

// Returns: 0 for a file that a fold has just removed.
static uint64_t size_of_file(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 ? (uint64_t)about.st_size : 0;
}

agg_err agg_store_files_size(agg_store *store, uint64_t *bytes, agg_error *error,
                             int64_t collection)
{
    agg_stored *list = NULL;
    size_t n = 0;
    *bytes = 0;
    agg_err err = agg_store_files_list(store, &list, &n, error, collection);
    for (size_t i = 0; err == SHOAL_OK && i < n; i++) {
        char *path = path_of(store, error, collection, list[i].period, list[i].generation);
        if (path == NULL)
            err = AGG_ERR_MEMORY;
        else
            *bytes += size_of_file(path);
        free(path);
    }
    free(list);
    return err;
}

agg_err agg_store_fail_across(agg_error *error, agg_span kept)
{
    if (kept.first == AGG_SPAN_ALL.first) {
        return agg_fail(
            error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE,
            "this store keeps all days in one period: it cannot answer for some of them");
    }
    char first[11], last[11];
    agg_day_print(first, kept.first);
    agg_day_print(last, kept.last);
    return agg_fail(
        error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE,
        "the store keeps %s to %s as one period, which your span cuts: ask for whole periods",
        first, last);
}

static agg_err add_stored(agg_store *store, agg_accumulator *acc, agg_error *error,
                          int64_t collection, const shoal_recipe *recipe, agg_stored one)
{
    agg_accumulator next;
    agg_err err =
        agg_store_file_load(store, &next, error, collection, recipe, one.period, one.generation);
    if (err != SHOAL_OK) return err;
    err = agg_accumulator_merge(acc, error, &next);
    agg_accumulator_release(&next);
    return err;
}

static agg_err load_within(agg_store *store, agg_accumulator *acc, agg_error *error,
                           int64_t collection, const shoal_recipe *recipe, agg_span span)
{
    agg_stored *list = NULL;
    size_t n = 0, within = 0;
    agg_err err = agg_store_files_list(store, &list, &n, error, collection);
    for (size_t i = 0; err == SHOAL_OK && i < n; i++) {
        agg_overlap overlap = agg_period_overlap(list[i].period, span);
        if (overlap == AGG_ACROSS)
            err = agg_store_fail_across(error, agg_period_span(list[i].period));
        if (overlap == AGG_WITHIN) list[within++] = list[i];
    }
    if (err == SHOAL_OK && within > 0) {
        err = agg_store_file_load(store, acc, error, collection, recipe, list[0].period,
                                  list[0].generation);
    } else if (err == SHOAL_OK) {
        err = agg_accumulator_init(acc, error, recipe);
    }
    for (size_t i = 1; err == SHOAL_OK && i < within; i++) {
        err = add_stored(store, acc, error, collection, recipe, list[i]);
        if (err != SHOAL_OK) agg_accumulator_release(acc);
    }
    free(list);
    return err;
}

agg_err agg_store_files_load(agg_store *store, agg_accumulator *acc, agg_error *error,
                             int64_t collection, const shoal_recipe *recipe, agg_span span)
{
    pthread_mutex_lock(&store->files_mutex);
    agg_err err = load_within(store, acc, error, collection, recipe, span);
    pthread_mutex_unlock(&store->files_mutex);
    return err;
}

// ---- at open ----

// Finds whether the database names this file.
static agg_err find_name(agg_store *store, bool *is_named, agg_error *error, const char *name)
{
    sqlite3_stmt *all = agg_database_bind(&store->database, STATEMENT_ACCUMULATOR_ALL, NULL, 0);
    agg_err err = SHOAL_OK;
    *is_named = false;
    while (err == SHOAL_OK && !*is_named) {
        bool is_row = false;
        char named[80];
        agg_period period;
        err = agg_database_step(&store->database, &is_row, error, all, "list accumulators");
        if (err != SHOAL_OK || !is_row) break;
        err = agg_store_read_period(store, &period, error, all, 1);
        if (err != SHOAL_OK) break;
        file_name(named, sizeof named, sqlite3_column_int64(all, 0), period,
                  sqlite3_column_int64(all, 3));
        *is_named = strcmp(named, name) == 0;
    }
    agg_statement_end(all);
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

static agg_err check_file(agg_store *store, agg_error *error, sqlite3_stmt *row)
{
    agg_period period;
    agg_err err = agg_store_read_period(store, &period, error, row, 1);
    if (err != SHOAL_OK) return err;
    char *path =
        path_of(store, error, sqlite3_column_int64(row, 0), period, sqlite3_column_int64(row, 3));
    if (path == NULL) return AGG_ERR_MEMORY;
    if (access(path, R_OK) != 0)
        err = agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: %s", path, strerror(errno));
    free(path);
    return err;
}

// Refuses a store whose files are missing: it would answer with less than was acknowledged.
static agg_err check_files(agg_store *store, agg_error *error)
{
    sqlite3_stmt *all = agg_database_bind(&store->database, STATEMENT_ACCUMULATOR_ALL, NULL, 0);
    agg_err err = SHOAL_OK;
    bool is_row = true;
    while (err == SHOAL_OK) {
        err = agg_database_step(&store->database, &is_row, error, all, "list accumulators");
        if (err != SHOAL_OK || !is_row) break;
        err = check_file(store, error, all);
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
