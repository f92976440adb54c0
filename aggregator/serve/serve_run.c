// SPDX-License-Identifier: Apache-2.0
// The server's life; see serve_run.h.
#include "serve_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "audit_log.h"
#include "http_address.h"
#include "http_stop.h"
#include "log.h"
#include "memory_option.h"
#include "serve_fold.h"
#include "serve_http.h"
#include "serve_reload.h"

typedef struct server {
    serve_set *first; // of the start; `sets` owns it
    serve_sets *sets;
    agg_store *store;
    agg_audit_log *audit;
    serve_results *results;
    serve_folder *folder;
    agg_watch *watch;
    serve_http *http;
    uint16_t port;
} server;

// Opens the audit log that the configuration names, or the one in the store's folder.
static agg_err open_audit(server *s, agg_error *error)
{
    const serve_config *config = &s->first->config;
    if (config->audit_log != NULL)
        return agg_audit_log_open(&s->audit, error, config->audit_log, config->audit_log_bytes);
    size_t size = strlen(config->store) + sizeof "/" AGG_AUDIT_FOLDER;
    char *folder = agg_alloc(error, size, 1);
    if (folder == NULL) return AGG_ERR_MEMORY;
    snprintf(folder, size, "%s/" AGG_AUDIT_FOLDER, config->store);
    agg_err err = agg_audit_log_open(&s->audit, error, folder, config->audit_log_bytes);
    free(folder);
    return err;
}

// Takes a folder in place of the configuration's store and audit log, for a check that may not
// touch them.
static agg_err use_spare(serve_config *config, agg_error *error, const char *store)
{
    char *folder = strdup(store);
    if (folder == NULL) return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "out of memory");
    free(config->store);
    config->store = folder;
    free(config->audit_log);
    config->audit_log = NULL;
    return SHOAL_OK;
}

// Loads what the configuration names and opens the store.
//   spare: a folder to take in place of the configuration's store; NULL: that store
static agg_err open_rooms(server *s, agg_error *error, const char *path, uint64_t limit,
                          const char *spare)
{
    serve_set *first = NULL;
    agg_err err = serve_set_load(&first, error, path);
    if (err != SHOAL_OK) return err;
    if (spare != NULL) err = use_spare(&first->config, error, spare);
    if (err == SHOAL_OK) err = agg_store_open(&s->store, error, first->config.store);
    if (err == SHOAL_OK) err = serve_set_enter(first, error, s->store, limit);
    if (err != SHOAL_OK) {
        serve_set_free(first);
        return err;
    }
    err = serve_sets_open(&s->sets, error, first);
    if (err != SHOAL_OK) return err;
    s->first = first;
    return open_audit(s, error);
}

uint64_t serve_data_limit(uint64_t memory_limit)
{
    if (memory_limit == 0) return 0;
    return memory_limit > CLI_PROGRAM_BYTES ? memory_limit - CLI_PROGRAM_BYTES : 1;
}

static agg_err state_memory(const server *s, agg_error *error, uint64_t limit)
{
    char command[] = "serve";
    const serve_plan *plan = &s->first->plan;
    agg_store_set_fold_bytes(s->store, plan->fold_bytes);
    return cli_state_memory(error, command, plan->bytes, limit);
}

// An agg_watch_fn over a store.
static agg_err look(void *store, agg_store_found *found, agg_error *error, agg_store_told told,
                    const agg_pace *pace)
{
    return agg_store_check(store, found, error, told, pace);
}

static agg_err start(server *s, agg_error *error)
{
    static char name[] = "serve";
    const serve_config *config = &s->first->config; // no reload has begun yet
    agg_err err = agg_audit_log_start(s->audit, error);
    if (err == SHOAL_OK)
        err = serve_results_start(&s->results, error, s->store, s->sets, s->first->plan.kept_bytes);
    if (err == SHOAL_OK) err = serve_folder_start(&s->folder, error, s->store, s->sets, config);
    if (err == SHOAL_OK)
        err = agg_watch_start(&s->watch, error, look, s->store, config->check_interval_s,
                              (agg_store_told){agg_log_line, name});
    const serve_parts parts = {.sets = s->sets,
                               .store = s->store,
                               .results = s->results,
                               .audit = s->audit,
                               .watch = s->watch,
                               .room = s->first->plan.room};
    return err == SHOAL_OK ? serve_http_start(&s->http, &s->port, error, &parts, config) : err;
}

// Ends the server: it takes no new connections, finishes the answers under way, and folds
// everything that was acknowledged. Open connections may send requests until HTTP has stopped, so
// the results and the audit log are released after that.
static agg_err stop(server *s, agg_error *error)
{
    if (s->http != NULL) serve_http_quiesce(s->http);
    serve_results_stop(s->results);
    agg_audit_log_stop(s->audit); // the last answers wait for it, and HTTP for them
    serve_http_stop(s->http);
    serve_results_release(s->results);
    agg_audit_log_close(s->audit);
    agg_watch_stop(s->watch);
    agg_err err = serve_folder_stop(s->folder, error);
    serve_sets_close(s->sets);
    agg_store_close(s->store);
    return err;
}

// Looks for damage in the whole store, and names each damaged thing.
static agg_err check_store(server *s, agg_error *error)
{
    static char name[] = "serve";
    agg_store_found found;
    agg_err err =
        agg_store_check(s->store, &found, error, (agg_store_told){agg_log_line, name}, NULL);
    if (err != SHOAL_OK || !agg_store_found_damage(&found)) return err;
    if (found.is_database_damaged)
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "store %s: the database is damaged",
                        s->first->config.store);
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO,
                    "store %s: %" PRIu64 " of %" PRIu64
                    " accumulators, sums and waiting batches are damaged",
                    s->first->config.store, found.n_damaged, found.n_checked);
}

// Serves until a signal ends it, and reloads the configuration meanwhile.
static agg_err serve(server *s, agg_error *error, const char *path, uint64_t limit, bool is_watched)
{
    serve_watch *watch = NULL;
    agg_err err = is_watched ? serve_watch_open(&watch, error, s->sets, path) : SHOAL_OK;
    if (err != SHOAL_OK) return err;
    agg_http_address_say(s->first->config.listen, s->port);
    for (agg_http_signal got; (got = agg_http_stop_next(watch != NULL)) != AGG_HTTP_STOP;) {
        bool is_changed = serve_watch_look(watch);
        if (got != AGG_HTTP_RELOAD && !is_changed) continue;
        serve_reload(s->sets, s->store, path, limit);
        if (watch != NULL) serve_watch_renew(watch, s->sets);
    }
    serve_watch_close(watch);
    return SHOAL_OK;
}

// Stops what runs. Returns: err, or the error of stopping where there was none.
static agg_err end(server *s, agg_error *error, agg_err err)
{
    agg_error at_stop = {0};
    agg_err stopped = stop(s, &at_stop);
    if (err != SHOAL_OK || stopped == SHOAL_OK) return err;
    *error = at_stop;
    return stopped;
}

agg_err serve_run_check(agg_error *error, const char *path, uint64_t memory_limit,
                        const char *store)
{
    server s = {0};
    agg_err err = open_rooms(&s, error, path, serve_data_limit(memory_limit), store);
    if (err == SHOAL_OK) err = state_memory(&s, error, memory_limit);
    if (err == SHOAL_OK) err = check_store(&s, error);
    return end(&s, error, err);
}

agg_err serve_run(agg_error *error, const char *path, uint64_t memory_limit, bool is_watched)
{
    server s = {0};
    uint64_t limit = serve_data_limit(memory_limit);
    agg_http_stop_block();
    agg_http_reload_block();
    agg_err err = open_rooms(&s, error, path, limit, NULL);
    if (err == SHOAL_OK) err = state_memory(&s, error, memory_limit);
    if (err == SHOAL_OK) err = start(&s, error);
    if (err == SHOAL_OK) err = serve(&s, error, path, limit, is_watched);
    return end(&s, error, err);
}
