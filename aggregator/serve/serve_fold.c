// SPDX-License-Identifier: Apache-2.0
// Folding in the background; see serve_fold.h.
#include "serve_fold.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "agg_parallel.h"
#include "agg_size.h"
#include "memory_option.h"

#define REST_FACTOR 10

struct serve_folder {
    agg_store *store;
    serve_sets *sets;
    double interval_s;
    agg_retention retention;
    unsigned n_threads;
    pthread_t thread;
    pthread_mutex_t mutex; // guards is_stopping
    pthread_cond_t wake;
    bool is_stopping;
};

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// Plans more memory when a collection keeps more records than were planned for, and says so.
static agg_err check_room(serve_folder *folder, serve_set *set, serve_collection *collection,
                          agg_error *error)
{
    char command[] = "serve";
    bool has_grown = false;
    agg_err err = serve_memory_check(&set->plan, error, collection, folder->store, &has_grown);
    return has_grown ? cli_state_memory(error, command, set->plan.bytes, 0) : err;
}

static agg_err fold_one(serve_folder *folder, serve_set *set, serve_collection *collection,
                        agg_error *error)
{
    uint64_t n_batches = 0, n_closed = 0, n_merged = 0, n_forgotten;
    int64_t now = time(NULL); // before the fold: what was put before a tick is folded at it
    agg_err err = check_room(folder, set, collection, error);
    bool is_full = err == AGG_ERR_MEMORY;
    if (err == SHOAL_OK)
        err = agg_store_fold(folder->store, &n_batches, error, collection->number,
                             collection->recipe.recipe, folder->n_threads);
    if (err == SHOAL_OK) {
        err = agg_store_close_block(folder->store, &n_closed, error, collection->number,
                                    collection->recipe.recipe, now, collection->tick_s);
    }
    if (err == SHOAL_OK && n_closed > 0) atomic_store(&collection->live->is_alarm_due, true);
    if (err == SHOAL_OK) {
        err = agg_store_merge_blocks(folder->store, &n_merged, error, collection->number,
                                     collection->recipe.recipe, (int32_t)(now / 86400),
                                     folder->retention);
    }
    if (n_closed > 0 || n_merged > 0) {
        atomic_store(&collection->live->is_trend_due, true);
        atomic_fetch_add(&collection->live->closings, 1);
    }
    if (err == SHOAL_OK) {
        err = agg_store_forget(folder->store, &n_forgotten, error, collection->number,
                               collection->recipe.recipe, (int32_t)(now / 86400));
    }
    if (err != SHOAL_OK) {
        atomic_fetch_add(&collection->live->counters[COUNT_FOLD_FAILURES], 1);
        fprintf(stderr, "shoal: serve: fold of %s: %s\n", collection->recipe.id, error->text);
    } else if (n_batches > 0) {
        atomic_fetch_add(&collection->live->counters[COUNT_FOLDS], 1);
    }
    // Everybody may ask /healthz. It must not tell that the open block outgrew its room.
    atomic_store(&collection->live->is_fold_failing, err != SHOAL_OK && !is_full);
    return err;
}

static void fold_due(serve_folder *folder)
{
    serve_set *set = serve_sets_hold(folder->sets);
    for (size_t i = 0; i < set->collections.n; i++) {
        serve_collection *one = &set->collections.list[i];
        double start_s = now_s();
        if (start_s < one->live->due_s) continue;
        agg_error error = {0};
        // fold_one counts and logs a failure, and the next turn tries again.
        (void)!fold_one(folder, set, one, &error);
        double took_s = now_s() - start_s, rest_s = REST_FACTOR * took_s;
        one->live->due_s = now_s() + (rest_s > folder->interval_s ? rest_s : folder->interval_s);
    }
    serve_sets_release(folder->sets, set);
}

// Waits for the next turn, which comes at least once a second.
// Returns: false when the server stops.
static bool rest(serve_folder *folder)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    double seconds = folder->interval_s < 1 ? folder->interval_s : 1;
    until.tv_nsec += (long)(seconds * 1e9);
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&folder->mutex);
    while (!folder->is_stopping &&
           pthread_cond_timedwait(&folder->wake, &folder->mutex, &until) == 0) {
    }
    bool goes_on = !folder->is_stopping;
    pthread_mutex_unlock(&folder->mutex);
    return goes_on;
}

static void *work(void *context)
{
    serve_folder *folder = context;
    do {
        fold_due(folder);
    } while (rest(folder));
    return NULL;
}

static void release(serve_folder *folder)
{
    pthread_mutex_destroy(&folder->mutex);
    pthread_cond_destroy(&folder->wake);
    free(folder);
}

agg_err serve_folder_start(serve_folder **folder, agg_error *error, agg_store *store,
                           serve_sets *sets, const serve_config *config)
{
    serve_folder *made = agg_alloc(error, 1, sizeof *made);
    if (made == NULL) return AGG_ERR_MEMORY;
    *made = (serve_folder){.store = store,
                           .sets = sets,
                           .interval_s = config->fold_interval_s,
                           .retention = config->retention,
                           .n_threads = agg_parallel_cores()};
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&made->mutex, NULL);
    pthread_cond_init(&made->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (pthread_create(&made->thread, NULL, work, made) != 0) {
        release(made);
        return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME,
                        "cannot start the thread for folding");
    }
    *folder = made;
    return SHOAL_OK;
}

agg_err serve_folder_stop(serve_folder *folder, agg_error *error)
{
    if (folder == NULL) return SHOAL_OK;
    pthread_mutex_lock(&folder->mutex);
    folder->is_stopping = true;
    pthread_cond_signal(&folder->wake);
    pthread_mutex_unlock(&folder->mutex);
    pthread_join(folder->thread, NULL);
    agg_err err = SHOAL_OK;
    serve_set *set = serve_sets_hold(folder->sets);
    for (size_t i = 0; i < set->collections.n; i++) {
        agg_error own = {0};
        agg_err one = fold_one(folder, set, &set->collections.list[i], &own);
        if (one == SHOAL_OK || err != SHOAL_OK) continue;
        err = one;
        *error = own;
    }
    serve_sets_release(folder->sets, set);
    release(folder);
    return err;
}
