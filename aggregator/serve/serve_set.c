// SPDX-License-Identifier: Apache-2.0
// Sets of a server; see serve_set.h.
#include "serve_set.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agg_size.h"
#include "log.h"

struct serve_sets {
    pthread_mutex_t mutex; // guards everything below, and n_holders of every set
    serve_set *in_force;
    serve_reloads reloads;
    serve_live **lives; // of every collection that was served since the start
    size_t n_lives, cap_lives;
};

// ---- one set ----

agg_err serve_set_load(serve_set **set, agg_error *error, const char *path)
{
    static char name[] = "serve";
    serve_set *made = agg_alloc(error, 1, sizeof *made);
    if (made == NULL) return AGG_ERR_MEMORY;
    made->number = 1;
    agg_err err = serve_config_load(&made->config, error, path);
    if (err == SHOAL_OK)
        err = agg_http_secret_load(&made->batch_secret, error, made->config.batch_secret_file);
    if (err == SHOAL_OK)
        err = serve_access_open(&made->access, error, &made->config, &made->batch_secret);
    if (err == SHOAL_OK)
        err = serve_collections_load(&made->collections, error, &made->config, agg_log_line, name);
    if (err == SHOAL_OK) err = serve_access_find_scopes(&made->access, error, &made->collections);
    if (err != SHOAL_OK) {
        serve_set_free(made);
        return err;
    }
    *set = made;
    return SHOAL_OK;
}

agg_err serve_set_enter(serve_set *set, agg_error *error, agg_store *store, uint64_t limit)
{
    agg_err err = serve_collections_enter(&set->collections, error, store);
    return err == SHOAL_OK
               ? serve_memory_plan(&set->plan, error, &set->config, &set->collections, store, limit)
               : err;
}

void serve_set_free(serve_set *set)
{
    if (set == NULL) return;
    serve_collections_release(&set->collections);
    serve_access_release(&set->access);
    serve_config_release(&set->config);
    free(set);
}

// ---- what a reload may change ----

static bool is_same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool is_same_limits(const agg_http_limits *a, const agg_http_limits *b)
{
    if (a->header_timeout_s != b->header_timeout_s || a->requests_per_s != b->requests_per_s ||
        a->connections_per_address != b->connections_per_address ||
        a->requests_burst != b->requests_burst || a->n_unlimited != b->n_unlimited)
        return false;
    for (size_t i = 0; i < a->n_unlimited; i++) {
        const agg_http_network *x = &a->unlimited[i], *y = &b->unlimited[i];
        if (x->prefix != y->prefix || memcmp(x->bytes, y->bytes, sizeof x->bytes) != 0)
            return false;
    }
    return true;
}

// Returns: the first field that differs and that only a restart changes, or NULL.
static const char *changed_field(const serve_config *a, const serve_config *b)
{
    if (!is_same_text(a->listen, b->listen)) return "listen";
    if (!is_same_text(a->store, b->store)) return "store";
    if (!is_same_text(a->audit_log, b->audit_log)) return "audit_log";
    if (a->audit_log_bytes != b->audit_log_bytes) return "audit_log_bytes";
    if (a->retention.days != b->retention.days || a->retention.weeks != b->retention.weeks)
        return "retention";
    if (a->fold_interval_s < b->fold_interval_s || a->fold_interval_s > b->fold_interval_s)
        return "fold_interval_s";
    if (a->check_interval_s < b->check_interval_s || a->check_interval_s > b->check_interval_s)
        return "check_interval_s";
    if (a->max_body != b->max_body) return "max_body";
    if (a->body_timeout_s != b->body_timeout_s) return "body_timeout_s";
    if (a->threads != b->threads) return "threads";
    return is_same_limits(&a->limits, &b->limits) ? NULL : "limits";
}

agg_err serve_set_check_fixed(agg_error *error, const serve_set *now, const serve_set *next)
{
    const char *field = changed_field(&now->config, &next->config);
    if (field == NULL) return SHOAL_OK;
    return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE,
                    "%s: changed; only a restart changes this field", field);
}

// The listener's room was set aside at the start. Refuses a set whose largest answer or sum would
// never fit it, and, where memory is limited, one that does not fit beside the set that it
// replaces.
static agg_err check_memory(agg_error *error, const serve_set *now, const serve_set *next)
{
    if (next->plan.largest_answer > now->plan.room.answers)
        return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME,
                        "dictionaries: answers grow beyond the room that was set aside at the "
                        "start; restart the server");
    if (now->plan.limit > 0 && next->plan.bytes + now->plan.held > now->plan.limit)
        return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME,
                        "--memory: the new recipes and dictionaries do not fit beside those in "
                        "force; restart the server");
    return SHOAL_OK;
}

// ---- counters ----

// Returns: the counters of a collection, which begin when it is first served. NULL without memory.
// Call with the mutex held.
static serve_live *live_of(serve_sets *sets, agg_error *error, int64_t number)
{
    for (size_t i = 0; i < sets->n_lives; i++)
        if (sets->lives[i]->number == number) return sets->lives[i];
    void *grown = sets->lives;
    agg_err err = agg_grow(&grown, &sets->cap_lives, sets->n_lives + 1, sizeof *sets->lives, error);
    sets->lives = grown;
    serve_live *made = err == SHOAL_OK ? agg_alloc(error, 1, sizeof *made) : NULL;
    if (made == NULL) return NULL;
    made->number = number;
    atomic_store(&made->is_alarm_due, true);
    atomic_store(&made->is_trend_due, true);
    sets->lives[sets->n_lives++] = made;
    return made;
}

static agg_err find_lives(serve_sets *sets, agg_error *error, serve_set *set)
{
    for (size_t i = 0; i < set->collections.n; i++) {
        serve_collection *one = &set->collections.list[i];
        one->live = live_of(sets, error, one->number);
        if (one->live == NULL) return AGG_ERR_MEMORY;
    }
    return SHOAL_OK;
}

// ---- the set in force ----

agg_err serve_sets_open(serve_sets **sets, agg_error *error, serve_set *first)
{
    serve_sets *made = agg_alloc(error, 1, sizeof *made);
    if (made == NULL) {
        serve_set_free(first);
        return AGG_ERR_MEMORY;
    }
    pthread_mutex_init(&made->mutex, NULL);
    made->in_force = first;
    first->n_holders = 1;
    made->reloads.since_s = time(NULL);
    agg_err err = find_lives(made, error, first);
    if (err != SHOAL_OK)
        serve_sets_close(made);
    else
        *sets = made;
    return err;
}

void serve_sets_close(serve_sets *sets)
{
    if (sets == NULL) return;
    serve_set_free(sets->in_force);
    for (size_t i = 0; i < sets->n_lives; i++) free(sets->lives[i]);
    free(sets->lives);
    pthread_mutex_destroy(&sets->mutex);
    free(sets);
}

serve_set *serve_sets_hold(serve_sets *sets)
{
    pthread_mutex_lock(&sets->mutex);
    serve_set *set = sets->in_force;
    set->n_holders++;
    pthread_mutex_unlock(&sets->mutex);
    return set;
}

void serve_sets_hold_again(serve_sets *sets, serve_set *set)
{
    pthread_mutex_lock(&sets->mutex);
    set->n_holders++;
    pthread_mutex_unlock(&sets->mutex);
}

void serve_sets_release(serve_sets *sets, serve_set *set)
{
    if (set == NULL) return;
    pthread_mutex_lock(&sets->mutex);
    bool is_last = --set->n_holders == 0;
    pthread_mutex_unlock(&sets->mutex);
    if (is_last) serve_set_free(set);
}

agg_err serve_sets_replace(serve_sets *sets, agg_error *error, serve_set *next)
{
    pthread_mutex_lock(&sets->mutex);
    serve_set *before = sets->in_force;
    agg_err err = check_memory(error, before, next);
    if (err == SHOAL_OK) err = find_lives(sets, error, next);
    if (err == SHOAL_OK) {
        serve_access_keep_sessions(&next->access, &before->access);
        // What was set aside at the start stays as it is.
        next->plan.room = before->plan.room;
        next->plan.fold_bytes = before->plan.fold_bytes;
        next->plan.kept_bytes = before->plan.kept_bytes;
        next->number = before->number + 1;
        next->n_holders = 1;
        sets->in_force = next;
        sets->reloads.since_s = time(NULL);
        sets->reloads.taken++;
        sets->reloads.is_refused = false;
    }
    pthread_mutex_unlock(&sets->mutex);
    if (err == SHOAL_OK)
        serve_sets_release(sets, before);
    else
        serve_set_free(next);
    return err;
}

void serve_sets_count_refused(serve_sets *sets)
{
    pthread_mutex_lock(&sets->mutex);
    sets->reloads.refused++;
    sets->reloads.is_refused = true;
    pthread_mutex_unlock(&sets->mutex);
}

serve_reloads serve_sets_reloads(serve_sets *sets)
{
    pthread_mutex_lock(&sets->mutex);
    serve_reloads reloads = sets->reloads;
    pthread_mutex_unlock(&sets->mutex);
    return reloads;
}
