// SPDX-License-Identifier: Apache-2.0
// Folding waiting batches into accumulators, loading them, and removing leftovers; see store.h for
// why a crash is harmless.
#include "store_private.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agg_file.h"
#include "agg_size.h"
#include "compound.h"
#include "folder.h"

// One fold of one period: which batches it takes and where they go.
typedef struct fold {
    agg_store *store;
    const shoal_recipe *recipe;
    int64_t collection;
    agg_period period;
    int64_t last;       // takes waiting batches up to this number
    int64_t generation; // of the accumulator that exists; 0 for none
    uint64_t n_batches;
    agg_accumulator acc;
} fold;

static void file_name(char *out, size_t size, int64_t collection, agg_period period,
                      int64_t generation)
{
    static const char letters[] = {'a', 'd', 'w'};
    snprintf(out, size, "c%" PRId64 "-%c%" PRId32 "-g%" PRId64 ".acc", collection,
             letters[period.kind], period.start, generation);
}

char *agg_store_path(const agg_store *store, agg_error *error, int64_t collection,
                     agg_period period, int64_t generation)
{
    char name[80];
    file_name(name, sizeof name, collection, period, generation);
    size_t size = strlen(store->folder) + strlen(name) + sizeof "/accumulators/";
    char *path = agg_alloc(error, size, 1);
    if (path != NULL) snprintf(path, size, "%s/accumulators/%s", store->folder, name);
    return path;
}

// Reads one integer of the first row. Returns: 1 and the value, 0 for no row or NULL, -1 with
// SQLite's error set.
static int read_integer(sqlite3_stmt *statement, int64_t *value)
{
    int rc = sqlite3_step(statement), found = 0;
    if (rc == SQLITE_ROW && sqlite3_column_type(statement, 0) != SQLITE_NULL) {
        *value = sqlite3_column_int64(statement, 0);
        found = 1;
    }
    sqlite3_reset(statement);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? found : -1;
}

int agg_store_is_kind(int64_t kind)
{
    return kind == AGG_PERIOD_ALL || kind == AGG_PERIOD_DAY || kind == AGG_PERIOD_WEEK;
}

// Finds a period that still has batches of this fold. Returns: as read_integer.
static int find_period(fold *f)
{
    const int64_t key[] = {f->collection, f->last};
    sqlite3_stmt *statement = agg_store_bind(f->store, STATEMENT_WAITING_PERIOD, key, 2);
    int rc = sqlite3_step(statement), found = rc == SQLITE_ROW;
    if (found) {
        int64_t kind = sqlite3_column_int64(statement, 0);
        if (!agg_store_is_kind(kind)) found = -1;
        f->period =
            (agg_period){(agg_period_kind)kind, (int32_t)sqlite3_column_int64(statement, 1)};
    }
    sqlite3_reset(statement);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? found : -1;
}

// Returns: as read_integer; a period without an accumulator has generation 0. Call with db_mutex
// held.
static int plan_locked(fold *f)
{
    int found = find_period(f);
    if (found != 1) return found;
    const int64_t key[] = {f->collection, f->period.kind, f->period.start};
    f->generation = 0;
    sqlite3_stmt *statement = agg_store_bind(f->store, STATEMENT_ACCUMULATOR_FIND, key, 3);
    return read_integer(statement, &f->generation) < 0 ? -1 : 1;
}

// Returns: 1 when there is a period to fold, 0 when there is none, -1 with `error` filled.
static int plan(fold *f, agg_error *error)
{
    pthread_mutex_lock(&f->store->db_mutex);
    int found = plan_locked(f);
    if (found < 0) agg_store_fail(f->store, error, "look for batches");
    pthread_mutex_unlock(&f->store->db_mutex);
    return found;
}

// A fold takes what is there when it begins: batches that come meanwhile are the next one's, so
// that it ends. Returns: as plan.
static int plan_all(fold *f, agg_error *error)
{
    pthread_mutex_lock(&f->store->db_mutex);
    int found =
        read_integer(agg_store_bind(f->store, STATEMENT_WAITING_LAST, &f->collection, 1), &f->last);
    if (found < 0) agg_store_fail(f->store, error, "look for batches");
    pthread_mutex_unlock(&f->store->db_mutex);
    return found;
}

static agg_err load_file(agg_store *store, agg_accumulator *acc, agg_error *error,
                         int64_t collection, const shoal_recipe *recipe, agg_period period,
                         int64_t generation)
{
    char *path = agg_store_path(store, error, collection, period, generation);
    if (path == NULL) return AGG_ERR_MEMORY;
    agg_err err = agg_accumulator_load(acc, error, path);
    if (err == SHOAL_OK) {
        err = agg_accumulator_check_recipe(acc, error, recipe);
        if (err != SHOAL_OK) agg_accumulator_release(acc);
    }
    free(path);
    return err;
}

// Copies the next waiting batch, so that puts need not wait while it is folded.
//   number: the last one taken; advances
// Returns: 1, 0 at the end, -1 with `error` filled.
static int next_batch(fold *f, agg_bytes *bytes, agg_error *error, int64_t *number)
{
    const int64_t key[] = {f->collection, f->period.kind, f->period.start, *number, f->last};
    pthread_mutex_lock(&f->store->db_mutex);
    sqlite3_stmt *statement = agg_store_bind(f->store, STATEMENT_WAITING_NEXT, key, 5);
    int rc = sqlite3_step(statement), found = rc == SQLITE_ROW;
    if (found) {
        const void *body = sqlite3_column_blob(statement, 1);
        bytes->len = (size_t)sqlite3_column_bytes(statement, 1);
        bytes->data = agg_alloc(error, bytes->len, 1);
        if (bytes->data == NULL || body == NULL) {
            found = -1;
        } else {
            memcpy(bytes->data, body, bytes->len);
            *number = sqlite3_column_int64(statement, 0);
        }
    } else if (rc != SQLITE_DONE) {
        agg_store_fail(f->store, error, "read a batch");
        found = -1;
    }
    sqlite3_reset(statement);
    pthread_mutex_unlock(&f->store->db_mutex);
    return found;
}

// The batch was checked before it was put; it is checked again because the disk had it since.
static agg_err add_batch(fold *f, agg_folder *folder, agg_error *error, agg_bytes bytes,
                         int64_t number)
{
    shoal_batch batch;
    agg_err err = shoal_batch_open(&batch, bytes.data, bytes.len, f->recipe, NULL);
    if (err != SHOAL_OK) {
        agg_fail_core(error, err, AGG_EXIT_IO);
        agg_error_prefix(error, "store %s: waiting batch %" PRId64, f->store->folder, number);
        return err;
    }
    f->n_batches++;
    return agg_folder_add(folder, error, bytes.data + SHOAL_BATCH_HEADER, batch.count);
}

static agg_err add_batches(fold *f, agg_folder *folder, agg_error *error)
{
    int64_t number = 0;
    for (;;) {
        agg_bytes bytes = {0};
        int found = next_batch(f, &bytes, error, &number);
        if (found < 0) {
            free(bytes.data);
            return AGG_ERR_IO;
        }
        if (found == 0) return agg_folder_flush(folder, error);
        agg_err err = add_batch(f, folder, error, bytes, number);
        free(bytes.data);
        if (err != SHOAL_OK) return err;
    }
}

// Reads the accumulator that exists, or starts an empty one.
static agg_err start_accumulator(fold *f, agg_error *error)
{
    if (f->generation == 0) return agg_accumulator_init(&f->acc, error, f->recipe);
    return load_file(f->store, &f->acc, error, f->collection, f->recipe, f->period, f->generation);
}

static agg_err save_next(const fold *f, agg_error *error)
{
    char *path = agg_store_path(f->store, error, f->collection, f->period, f->generation + 1);
    if (path == NULL) return AGG_ERR_MEMORY;
    agg_err err = agg_accumulator_save(&f->acc, error, path); // durable on return, its name too
    free(path);
    return err;
}

// The one step that counts: the new file is named and its batches are gone, or neither.
static agg_err commit(fold *f, agg_error *error)
{
    agg_store *store = f->store;
    const int64_t kind = f->period.kind, start = f->period.start;
    const int64_t set[] = {f->collection, kind, start, f->generation + 1, (int64_t)f->acc.n};
    const int64_t gone[] = {f->collection, kind, start, f->last};
    pthread_mutex_lock(&store->db_mutex);
    int ok = agg_store_step(store->statements[STATEMENT_BEGIN]) &&
             agg_store_step(agg_store_bind(store, STATEMENT_ACCUMULATOR_SET, set, 5)) &&
             agg_store_step(agg_store_bind(store, STATEMENT_WAITING_DELETE, gone, 4)) &&
             agg_store_step(store->statements[STATEMENT_COMMIT]);
    agg_err err = ok ? SHOAL_OK : agg_store_fail(store, error, "commit a fold");
    if (!ok && !sqlite3_get_autocommit(store->db))
        agg_store_step(store->statements[STATEMENT_ROLLBACK]);
    // The deleted bytes also lie in the write-ahead log: empty it. A reader that holds it back is
    // met at the next fold.
    if (ok)
        (void)sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    pthread_mutex_unlock(&store->db_mutex);
    return err;
}

// Removes a generation's file. A failure leaves a leftover for the next open, nothing worse.
static void remove_generation(const fold *f, int64_t generation)
{
    if (generation == 0) return;
    char *path = agg_store_path(f->store, NULL, f->collection, f->period, generation);
    if (path == NULL) return;
    pthread_mutex_lock(&f->store->files_mutex);
    (void)unlink(path);
    pthread_mutex_unlock(&f->store->files_mutex);
    free(path);
}

static agg_err fold_period(fold *f, agg_error *error, unsigned n_threads)
{
    agg_err err = start_accumulator(f, error);
    if (err != SHOAL_OK) return err;
    agg_folder folder;
    err = agg_folder_init(&folder, error, &f->acc, f->store->fold_bytes, n_threads);
    if (err == SHOAL_OK) {
        err = add_batches(f, &folder, error);
        agg_folder_release(&folder);
    }
    if (err == SHOAL_OK) err = save_next(f, error);
    if (err == SHOAL_OK) {
        err = commit(f, error);
        // After a failed commit the database still names the old file, or it is unknown which: then
        // both stay.
        if (err == SHOAL_OK) remove_generation(f, f->generation);
    }
    agg_accumulator_release(&f->acc);
    return err;
}

agg_err agg_store_fold(agg_store *store, uint64_t *n_batches, agg_error *error, int64_t collection,
                       const shoal_recipe *recipe, unsigned n_threads)
{
    fold f = {.store = store, .recipe = recipe, .collection = collection};
    agg_err err = SHOAL_OK;
    pthread_mutex_lock(&store->fold_mutex);
    int found = plan_all(&f, error);
    while (found > 0 && err == SHOAL_OK && (found = plan(&f, error)) > 0)
        err = fold_period(&f, error, n_threads);
    if (found < 0) err = AGG_ERR_IO;
    pthread_mutex_unlock(&store->fold_mutex);
    *n_batches = f.n_batches;
    return err;
}

typedef struct stored {
    agg_period period;
    int64_t generation;
} stored;

// Lists a collection's accumulators; free(*list) always.
static agg_err list_stored(agg_store *store, stored **list, size_t *n, agg_error *error,
                           int64_t collection)
{
    size_t cap = 0;
    agg_err err = SHOAL_OK;
    pthread_mutex_lock(&store->db_mutex);
    sqlite3_stmt *statement = agg_store_bind(store, STATEMENT_ACCUMULATORS, &collection, 1);
    int rc = SQLITE_ROW;
    while (err == SHOAL_OK && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
        int64_t kind = sqlite3_column_int64(statement, 0);
        if (!agg_store_is_kind(kind))
            err =
                agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "store %s: unknown period", store->folder);
        if (err == SHOAL_OK) err = agg_grow((void **)list, &cap, *n + 1, sizeof **list, error);
        if (err != SHOAL_OK) break;
        agg_period period = {(agg_period_kind)kind, (int32_t)sqlite3_column_int64(statement, 1)};
        (*list)[(*n)++] = (stored){period, sqlite3_column_int64(statement, 2)};
    }
    if (err == SHOAL_OK && rc != SQLITE_DONE)
        err = agg_store_fail(store, error, "list accumulators");
    sqlite3_reset(statement);
    pthread_mutex_unlock(&store->db_mutex);
    return err;
}

static uint64_t file_bytes(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 ? (uint64_t)about.st_size : 0;
}

void agg_store_set_fold_bytes(agg_store *store, size_t bytes)
{
    store->fold_bytes = bytes;
}

agg_err agg_store_bytes(agg_store *store, uint64_t *files, uint64_t *waiting, agg_error *error,
                        int64_t collection)
{
    stored *list = NULL;
    size_t n = 0;
    agg_store_stats stats;
    *files = *waiting = 0;
    agg_err err = agg_store_statistics(store, &stats, error, collection);
    if (err == SHOAL_OK) err = list_stored(store, &list, &n, error, collection);
    for (size_t i = 0; err == SHOAL_OK && i < n; i++) {
        char *path = agg_store_path(store, error, collection, list[i].period, list[i].generation);
        if (path == NULL)
            err = AGG_ERR_MEMORY;
        else
            *files += file_bytes(path);
        free(path);
    }
    free(list);
    if (err == SHOAL_OK) *waiting = stats.waiting_bytes;
    return err;
}

// The last day that a period's records are kept. One that never closes takes records until the
// recipe expires.
static int64_t last_kept_day(agg_period period, const shoal_recipe *recipe)
{
    int64_t last = agg_period_span(period).last;
    if (period.kind == AGG_PERIOD_ALL) last = recipe->expires_day;
    return last + recipe->keep_days;
}

// As a fold without batches: the new file is named, then the old one goes.
static agg_err forget_period(fold *f, agg_error *error)
{
    agg_err err = start_accumulator(f, error);
    if (err != SHOAL_OK) return err;
    agg_accumulator_forget(&f->acc);
    err = save_next(f, error);
    if (err == SHOAL_OK) err = commit(f, error);
    if (err == SHOAL_OK) remove_generation(f, f->generation);
    agg_accumulator_release(&f->acc);
    return err;
}

static agg_err forget_stored(fold *f, uint64_t *n_periods, agg_error *error, stored one)
{
    bool has_records = false;
    f->period = one.period;
    f->generation = one.generation;
    char *path = agg_store_path(f->store, error, f->collection, f->period, f->generation);
    if (path == NULL) return AGG_ERR_MEMORY;
    agg_err err = agg_accumulator_peek(&has_records, error, path);
    free(path);
    if (err == SHOAL_OK && has_records) err = forget_period(f, error);
    *n_periods += err == SHOAL_OK && has_records;
    return err;
}

static int keeps_records(const shoal_recipe *recipe)
{
    const shoal_compound *compound = shoal_compound_by_id(recipe->mechanism);
    return compound != NULL && compound->keeps_records;
}

agg_err agg_store_forget(agg_store *store, uint64_t *n_periods, agg_error *error,
                         int64_t collection, const shoal_recipe *recipe, int32_t today)
{
    fold f = {.store = store, .recipe = recipe, .collection = collection};
    stored *list = NULL;
    size_t n = 0;
    *n_periods = 0;
    if (!keeps_records(recipe)) return SHOAL_OK;
    pthread_mutex_lock(&store->fold_mutex);
    agg_err err = list_stored(store, &list, &n, error, collection);
    for (size_t i = 0; err == SHOAL_OK && i < n; i++)
        if (today > last_kept_day(list[i].period, recipe))
            err = forget_stored(&f, n_periods, error, list[i]);
    pthread_mutex_unlock(&store->fold_mutex);
    free(list);
    return err;
}

agg_err agg_store_fail_across(agg_error *error, agg_span kept)
{
    if (kept.first == AGG_SPAN_ALL.first) {
        return agg_fail(
            error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE,
            "this store keeps everything in one: it cannot answer for a part of the time");
    }
    char first[11], last[11];
    agg_day_print(first, kept.first);
    agg_day_print(last, kept.last);
    return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE,
                    "%s to %s is kept in one and lies across the edge: ask for whole periods",
                    first, last);
}

static agg_err add_stored(agg_store *store, agg_accumulator *acc, agg_error *error,
                          int64_t collection, const shoal_recipe *recipe, stored one)
{
    agg_accumulator next;
    agg_err err = load_file(store, &next, error, collection, recipe, one.period, one.generation);
    if (err != SHOAL_OK) return err;
    err = agg_accumulator_merge(acc, error, &next);
    agg_accumulator_release(&next);
    return err;
}

static agg_err load_within(agg_store *store, agg_accumulator *acc, agg_error *error,
                           int64_t collection, const shoal_recipe *recipe, agg_span span)
{
    stored *list = NULL;
    size_t n = 0, within = 0;
    agg_err err = list_stored(store, &list, &n, error, collection);
    for (size_t i = 0; err == SHOAL_OK && i < n; i++) {
        agg_overlap overlap = agg_period_overlap(list[i].period, span);
        if (overlap == AGG_ACROSS)
            err = agg_store_fail_across(error, agg_period_span(list[i].period));
        if (overlap == AGG_WITHIN) list[within++] = list[i];
    }
    if (err == SHOAL_OK && within > 0) {
        err = load_file(store, acc, error, collection, recipe, list[0].period, list[0].generation);
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

agg_err agg_store_load(agg_store *store, agg_accumulator *acc, agg_error *error, int64_t collection,
                       const shoal_recipe *recipe, agg_span span)
{
    if (recipe->aggregation == SHOAL_AGGREGATION_SUM)
        return agg_store_load_sum(store, acc, error, collection, recipe, span);
    pthread_mutex_lock(&store->files_mutex);
    agg_err err = load_within(store, acc, error, collection, recipe, span);
    pthread_mutex_unlock(&store->files_mutex);
    return err;
}

// Whether the database names this file. Returns: 1, 0, or -1 with SQLite's error set.
static int is_named(agg_store *store, const char *name)
{
    sqlite3_stmt *statement = store->statements[STATEMENT_ACCUMULATOR_ALL];
    int rc = SQLITE_ROW, found = 0;
    while (!found && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
        int64_t kind = sqlite3_column_int64(statement, 1);
        if (!agg_store_is_kind(kind)) continue;
        char named[80];
        agg_period period = {(agg_period_kind)kind, (int32_t)sqlite3_column_int64(statement, 2)};
        file_name(named, sizeof named, sqlite3_column_int64(statement, 0), period,
                  sqlite3_column_int64(statement, 3));
        found = strcmp(named, name) == 0;
    }
    sqlite3_reset(statement);
    return found ? 1 : rc == SQLITE_DONE ? 0 : -1;
}

// Everything in the folder was written by a fold, so what is not named is an unfinished one or a
// superseded one.
static agg_err sweep_folder(agg_store *store, agg_error *error, DIR *folder)
{
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        int named = is_named(store, entry->d_name);
        if (named < 0) return agg_store_fail(store, error, "list accumulators");
        if (named == 0) (void)unlinkat(dirfd(folder), entry->d_name, 0);
    }
    return SHOAL_OK;
}

// Refuses a store whose files are not there: going on would answer with less than was acknowledged.
static agg_err check_files(agg_store *store, agg_error *error)
{
    sqlite3_stmt *statement = store->statements[STATEMENT_ACCUMULATOR_ALL];
    agg_err err = SHOAL_OK;
    while (err == SHOAL_OK && sqlite3_step(statement) == SQLITE_ROW) {
        int64_t kind = sqlite3_column_int64(statement, 1);
        if (!agg_store_is_kind(kind)) {
            err =
                agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "store %s: unknown period", store->folder);
            break;
        }
        agg_period period = {(agg_period_kind)kind, (int32_t)sqlite3_column_int64(statement, 2)};
        char *path = agg_store_path(store, error, sqlite3_column_int64(statement, 0), period,
                                    sqlite3_column_int64(statement, 3));
        if (path == NULL) err = AGG_ERR_MEMORY;
        if (path != NULL && access(path, R_OK) != 0) {
            err = agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: %s", path, strerror(errno));
        }
        free(path);
    }
    sqlite3_reset(statement);
    return err;
}

agg_err agg_store_sweep(agg_store *store, agg_error *error)
{
    size_t size = strlen(store->folder) + sizeof "/accumulators";
    char *path = agg_alloc(error, size, 1);
    if (path == NULL) return AGG_ERR_MEMORY;
    snprintf(path, size, "%s/accumulators", store->folder);
    DIR *folder = opendir(path);
    agg_err err = folder == NULL
                      ? agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: %s", path, strerror(errno))
                      : sweep_folder(store, error, folder);
    if (folder != NULL) closedir(folder);
    free(path);
    return err == SHOAL_OK ? check_files(store, error) : err;
}
