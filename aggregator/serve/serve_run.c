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
#include "serve_access.h"
#include "serve_config.h"
#include "serve_fold.h"
#include "serve_http.h"
#include "serve_memory.h"

typedef struct server {
    serve_config config;
    agg_http_secret batch_secret;
    serve_access access;
    agg_store *store;
    agg_audit_log *audit;
    serve_collections collections;
    serve_results *results;
    serve_folder *folder;
    agg_watch *watch;
    serve_http *http;
    uint16_t port;
    serve_plan plan;
} server;

static agg_err load(server *s, agg_error *error, const char *path)
{
    agg_err err = serve_config_load(&s->config, error, path);
    if (err == SHOAL_OK)
        err = agg_http_secret_load(&s->batch_secret, error, s->config.batch_secret_file);
    if (err == SHOAL_OK) err = serve_access_open(&s->access, error, &s->config, &s->batch_secret);
    return err;
}

// Opens the audit log that the configuration names, or the one in the store's folder.
static agg_err open_audit(server *s, agg_error *error)
{
    const serve_config *config = &s->config;
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

static agg_err open_rooms(server *s, agg_error *error)
{
    static char name[] = "serve";
    agg_err err = agg_store_open(&s->store, error, s->config.store);
    if (err == SHOAL_OK)
        err = serve_collections_load(&s->collections, error, &s->config, s->store, agg_log_line,
                                     name);
    if (err == SHOAL_OK) err = serve_access_find_scopes(&s->access, error, &s->collections);
    return err == SHOAL_OK ? open_audit(s, error) : err;
}

uint64_t serve_data_limit(uint64_t memory_limit)
{
    if (memory_limit == 0) return 0;
    return memory_limit > CLI_PROGRAM_BYTES ? memory_limit - CLI_PROGRAM_BYTES : 1;
}

static agg_err plan_memory(server *s, agg_error *error, uint64_t limit)
{
    char command[] = "serve";
    agg_err err = serve_memory_plan(&s->plan, error, &s->config, &s->collections, s->store,
                                    serve_data_limit(limit));
    if (err == SHOAL_OK) err = cli_state_memory(error, command, s->plan.bytes, limit);
    agg_store_set_fold_bytes(s->store, s->plan.fold_bytes);
    return err;
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
    agg_err err = agg_audit_log_start(s->audit, error);
    if (err == SHOAL_OK)
        err =
            serve_results_start(&s->results, error, s->store, &s->collections, s->plan.kept_bytes);
    if (err == SHOAL_OK) {
        err =
            serve_folder_start(&s->folder, error, s->store, &s->collections, &s->plan, &s->config);
    }
    if (err == SHOAL_OK)
        err = agg_watch_start(&s->watch, error, look, s->store, s->config.check_interval_s,
                              (agg_store_told){agg_log_line, name});
    const serve_parts parts = {.config = &s->config,
                               .store = s->store,
                               .collections = &s->collections,
                               .results = s->results,
                               .batch_secret = &s->batch_secret,
                               .access = &s->access,
                               .audit = s->audit,
                               .watch = s->watch,
                               .room = s->plan.room};
    return err == SHOAL_OK ? serve_http_start(&s->http, &s->port, error, &parts) : err;
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
    serve_collections_release(&s->collections);
    agg_store_close(s->store);
    serve_access_release(&s->access);
    serve_config_release(&s->config);
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
                        s->config.store);
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO,
                    "store %s: %" PRIu64 " of %" PRIu64
                    " accumulators, sums and waiting batches are damaged",
                    s->config.store, found.n_damaged, found.n_checked);
}

// Takes a folder in place of the configuration's store and audit log, for a check that may not
// touch them.
static agg_err use_spare(server *s, agg_error *error, const char *store)
{
    char *folder = strdup(store);
    if (folder == NULL) return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "out of memory");
    free(s->config.store);
    s->config.store = folder;
    free(s->config.audit_log);
    s->config.audit_log = NULL;
    return SHOAL_OK;
}

agg_err serve_run_check(agg_error *error, const char *path, uint64_t memory_limit,
                        const char *store)
{
    server s = {0};
    agg_err err = load(&s, error, path);
    if (err == SHOAL_OK && store != NULL) err = use_spare(&s, error, store);
    if (err == SHOAL_OK) err = open_rooms(&s, error);
    if (err == SHOAL_OK) err = plan_memory(&s, error, memory_limit);
    if (err == SHOAL_OK) err = check_store(&s, error);
    agg_error at_stop = {0};
    agg_err stopped = stop(&s, &at_stop);
    if (err == SHOAL_OK && stopped != SHOAL_OK) {
        err = stopped;
        *error = at_stop;
    }
    return err;
}

agg_err serve_run(agg_error *error, const char *path, uint64_t memory_limit)
{
    server s = {0};
    agg_http_stop_block();
    agg_err err = load(&s, error, path);
    if (err == SHOAL_OK) err = open_rooms(&s, error);
    if (err == SHOAL_OK) err = plan_memory(&s, error, memory_limit);
    if (err == SHOAL_OK) err = start(&s, error);
    if (err == SHOAL_OK) {
        agg_http_address_say(s.config.listen, s.port);
        agg_http_stop_wait();
    }
    agg_error at_stop = {0};
    agg_err stopped = stop(&s, &at_stop);
    if (err == SHOAL_OK && stopped != SHOAL_OK) {
        err = stopped;
        *error = at_stop;
    }
    return err;
}
