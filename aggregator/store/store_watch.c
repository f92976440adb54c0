// SPDX-License-Identifier: Apache-2.0
// Looking for damage in the background; see store_watch.h.
#include "store_watch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "agg_size.h"

#define SLICE ((size_t)1 << 20) // bytes after which a look sleeps

struct agg_watch {
    agg_watch_fn look;
    void *store;
    double interval_s;
    agg_store_told told;
    size_t unpaid; // bytes that were read since the last sleep
    atomic_bool is_damaged;
    pthread_t thread;
    pthread_mutex_t mutex; // guards is_stopping
    pthread_cond_t wake;
    bool is_stopping;
};

// Sleeps, or ends at once when the watch stops.
// Returns: false when the watch stops.
static bool rest(agg_watch *watch, double seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    double whole = (double)(time_t)seconds;
    until.tv_sec += (time_t)seconds;
    until.tv_nsec += (long)((seconds - whole) * 1e9);
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&watch->mutex);
    while (!watch->is_stopping &&
           pthread_cond_timedwait(&watch->wake, &watch->mutex, &until) == 0) {
    }
    bool goes_on = !watch->is_stopping;
    pthread_mutex_unlock(&watch->mutex);
    return goes_on;
}

static bool go_on(void *context, size_t bytes)
{
    agg_watch *watch = context;
    watch->unpaid += bytes;
    if (bytes > 0 && watch->unpaid < SLICE) return true;
    double seconds = bytes == 0 ? 0 : (double)watch->unpaid / (double)AGG_WATCH_BYTES_S;
    if (bytes > 0) watch->unpaid = 0;
    return rest(watch, seconds);
}

static void look_once(agg_watch *watch)
{
    agg_store_found found = {0};
    agg_error error = {0};
    const agg_pace pace = {go_on, watch};
    if (watch->look(watch->store, &found, &error, watch->told, &pace) != SHOAL_OK) {
        if (watch->told.log != NULL) watch->told.log(watch->told.context, error.text);
        return;
    }
    if (!found.is_stopped || agg_store_found_damage(&found))
        atomic_store(&watch->is_damaged, agg_store_found_damage(&found));
}

static void *work(void *context)
{
    agg_watch *watch = context;
    do {
        look_once(watch);
    } while (rest(watch, watch->interval_s));
    return NULL;
}

static void release(agg_watch *watch)
{
    pthread_cond_destroy(&watch->wake);
    pthread_mutex_destroy(&watch->mutex);
    free(watch);
}

agg_err agg_watch_start(agg_watch **watch, agg_error *error, agg_watch_fn look, void *store,
                        double interval_s, agg_store_told told)
{
    agg_watch *made = agg_alloc(error, 1, sizeof *made);
    if (made == NULL) return AGG_ERR_MEMORY;
    made->look = look;
    made->store = store;
    made->interval_s = interval_s;
    made->told = told;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&made->mutex, NULL);
    pthread_cond_init(&made->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (pthread_create(&made->thread, NULL, work, made) != 0) {
        release(made);
        return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME,
                        "cannot start the thread that looks for damage");
    }
    *watch = made;
    return SHOAL_OK;
}

bool agg_watch_is_damaged(const agg_watch *watch)
{
    return watch != NULL && atomic_load(&watch->is_damaged);
}

void agg_watch_stop(agg_watch *watch)
{
    if (watch == NULL) return;
    pthread_mutex_lock(&watch->mutex);
    watch->is_stopping = true;
    pthread_cond_signal(&watch->wake);
    pthread_mutex_unlock(&watch->mutex);
    pthread_join(watch->thread, NULL);
    release(watch);
}
