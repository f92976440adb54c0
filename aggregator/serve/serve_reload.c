// SPDX-License-Identifier: Apache-2.0
// Reloading; see serve_reload.h.
#include "serve_reload.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agg_size.h"

// ---- reloading ----

static agg_err load_next(serve_set **next, agg_error *error, serve_sets *sets, agg_store *store,
                         const char *path, uint64_t limit)
{
    agg_err err = serve_set_load(next, error, path);
    if (err != SHOAL_OK) return err;
    serve_set *now = serve_sets_hold(sets);
    err = serve_set_check_fixed(error, now, *next);
    serve_sets_release(sets, now);
    if (err != SHOAL_OK) agg_error_prefix(error, "%s", path);
    if (err == SHOAL_OK) err = serve_set_enter(*next, error, store, limit);
    if (err != SHOAL_OK) serve_set_free(*next);
    return err;
}

void serve_reload(serve_sets *sets, agg_store *store, const char *path, uint64_t limit)
{
    agg_error error = {0};
    serve_set *next = NULL;
    agg_err err = load_next(&next, &error, sets, store, path, limit);
    if (err == SHOAL_OK) err = serve_sets_replace(sets, &error, next);
    if (err != SHOAL_OK) {
        serve_sets_count_refused(sets);
        fprintf(stderr, "shoal: serve: reload refused, the old configuration goes on: %s\n",
                error.text);
        return;
    }
    serve_set *now = serve_sets_hold(sets);
    fprintf(stderr, "shoal: serve: reloaded %s: %zu recipes, %zu dictionaries\n", path,
            now->collections.n, now->config.n_dictionaries);
    serve_sets_release(sets, now);
}

// ---- watching ----

// A file as it looks; zeros where there is none.
typedef struct look {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed, modified;
} look;

typedef struct file {
    char *path;
    look in_force, last; // when the set in force was loaded, and at the last look
} file;

struct serve_watch {
    const char *path;
    file *list;
    size_t n, cap;
    bool is_told; // the change was told, and nothing has changed since
};

static look look_at(const char *path)
{
    struct stat status;
    look found;
    memset(&found, 0, sizeof found);
    if (stat(path, &status) != 0) return found;
    found.device = status.st_dev;
    found.inode = status.st_ino;
    found.size = status.st_size;
    found.changed = status.st_ctim;
    found.modified = status.st_mtim;
    return found;
}

static bool is_same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool is_same(const look *a, const look *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           is_same_time(a->changed, b->changed) && is_same_time(a->modified, b->modified);
}

// Adds a file. NULL stands for a field that is absent.
static agg_err add(serve_watch *watch, agg_error *error, const char *path)
{
    if (path == NULL) return SHOAL_OK;
    void *grown = watch->list;
    agg_err err = agg_grow(&grown, &watch->cap, watch->n + 1, sizeof *watch->list, error);
    watch->list = grown;
    if (err != SHOAL_OK) return err;
    char *copy = strdup(path);
    if (copy == NULL) return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "out of memory");
    look now = look_at(path);
    watch->list[watch->n++] = (file){copy, now, now};
    return SHOAL_OK;
}

// Takes over how the files looked before they were loaded, so that a change while they were loaded
// is not missed.
static void take_looks(serve_watch *watch, const file *before, size_t n)
{
    for (size_t i = 0; i < watch->n; i++)
        for (size_t k = 0; k < n; k++)
            if (strcmp(watch->list[i].path, before[k].path) == 0)
                watch->list[i].in_force = watch->list[i].last = before[k].last;
}

static agg_err add_files(serve_watch *watch, agg_error *error, const serve_config *config)
{
    agg_err err = add(watch, error, watch->path);
    for (size_t i = 0; err == SHOAL_OK && i < config->n_recipes; i++)
        err = add(watch, error, config->recipes[i]);
    for (size_t i = 0; err == SHOAL_OK && i < config->n_dictionaries; i++)
        err = add(watch, error, config->dictionaries[i].path);
    for (size_t i = 0; err == SHOAL_OK && i < config->n_readers; i++)
        err = add(watch, error, config->readers[i].token_file);
    if (err == SHOAL_OK) err = add(watch, error, config->batch_secret_file);
    if (err == SHOAL_OK) err = add(watch, error, config->read_token_file);
    return err == SHOAL_OK ? add(watch, error, config->admin_token_file) : err;
}

static void release(file *list, size_t n)
{
    for (size_t i = 0; i < n; i++) free(list[i].path);
    free(list);
}

agg_err serve_watch_open(serve_watch **watch, agg_error *error, serve_sets *sets, const char *path)
{
    serve_watch *made = agg_alloc(error, 1, sizeof *made);
    if (made == NULL) return AGG_ERR_MEMORY;
    made->path = path;
    serve_set *now = serve_sets_hold(sets);
    agg_err err = add_files(made, error, &now->config);
    serve_sets_release(sets, now);
    if (err != SHOAL_OK)
        serve_watch_close(made);
    else
        *watch = made;
    return err;
}

void serve_watch_close(serve_watch *watch)
{
    if (watch == NULL) return;
    release(watch->list, watch->n);
    free(watch);
}

bool serve_watch_look(serve_watch *watch)
{
    bool is_moving = false, is_other = false;
    if (watch == NULL) return false;
    for (size_t i = 0; i < watch->n; i++) {
        file *one = &watch->list[i];
        look now = look_at(one->path);
        if (!is_same(&now, &one->last)) is_moving = true;
        if (!is_same(&now, &one->in_force)) is_other = true;
        one->last = now;
    }
    if (is_moving) watch->is_told = false;
    if (is_moving || !is_other || watch->is_told) return false;
    watch->is_told = true;
    return true;
}

void serve_watch_renew(serve_watch *watch, serve_sets *sets)
{
    agg_error error;
    serve_set *now = serve_sets_hold(sets);
    serve_reloads reloads = serve_sets_reloads(sets);
    if (!reloads.is_refused) { // else the files in force are those of before
        serve_watch before = *watch;
        *watch = (serve_watch){.path = before.path};
        if (add_files(watch, &error, &now->config) != SHOAL_OK)
            fprintf(stderr, "shoal: serve: some files are not watched: %s\n", error.text);
        take_looks(watch, before.list, before.n);
        release(before.list, before.n);
    }
    serve_sets_release(sets, now);
}
