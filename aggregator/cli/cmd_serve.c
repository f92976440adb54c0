// SPDX-License-Identifier: Apache-2.0
// shoal serve: batches in over HTTP, recipes, results, page and metrics out. Starts the rooms in
// order and ends them in the reverse one on SIGTERM or SIGINT; a second signal changes nothing, and
// kill -9 loses nothing that was acknowledged.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "dap_serve.h"
#include "http_address.h"
#include "http_stop.h"
#include "log.h"
#include "memory_option.h"
#include "options.h"
#include "serve_config.h"
#include "serve_fold.h"
#include "serve_http.h"
#include "serve_memory.h"

static const char help_text[] =
    "Usage: shoal serve --config FILE\n\n"
    "Takes batches from edge workers over HTTP, folds them per recipe and period, and answers "
    "with\n"
    "recipes, results, a page and metrics. Ends on SIGTERM after folding what waits.\n\n"
    "  --config FILE   JSON; paths in it start at the file's folder; unknown fields are refused\n"
    "  --role ROLE     \"leader\" or \"helper\": one of two servers; must agree with the "
    "configuration's \"role\"\n"
    "  --memory SIZE   take no more than this, as 256M or 2G: fewer connections, bodies, answers "
    "and jobs at once.\n"
    "                  Without it, what is taken at most, whatever comes, is said where it is "
    "much\n"
    "  --check         reads configuration, recipes, dictionaries and secrets, and ends\n\n"
    "Fields without a role (those marked * are required):\n"
    "  listen*             numeric address and port, as \"127.0.0.1:8080\" or \"[::1]:8080\"; port "
    "0 takes a free one\n"
    "  store*              folder of the durable state; made when missing\n"
    "  recipes*            list of recipe files\n"
    "  dictionaries        {\"recipe id\": \"file\"} or {\"recipe id\": {\"name\": \"file\"}}; the "
    "first one is the "
    "default\n"
    "  batch_secret_file*  one secret a line, at least 16 characters; two while one replaces the "
    "other\n"
    "  read_token_file     the same for readers; required unless `listen` is a loopback address\n"
    "  period              \"day\" (default), \"week\" or \"all\", by this machine's clock in UTC\n"
    "  fold_interval_s     seconds between folds, 0.05 to 86400; default 2\n"
    "  max_body            bytes of the largest batch; default 16777216\n"
    "  body_timeout_s      seconds for a batch to arrive; default 30\n"
    "  threads             of the HTTP pool; default 4\n\n"
    "Recipes with aggregation \"sum\": no record is stored, only sums; results hold closed "
    "periods, and grow by the\n"
    "minimum cohort at least.\n\n"
    "Routes: POST /v1/batches; GET /v1/recipes, "
    "/v1/results/ID?dictionary=&period=&from=&to=&top=,\n"
    "/v1/sums/ID, /, /recipes/ID, /metrics, /healthz. Put a TLS proxy in front of anything but "
    "loopback.\n\n"
    "Fields with a role, for recipes whose aggregation is \"dap\":\n"
    "  role*                  \"leader\" (takes devices' reports and the collector's questions) or "
    "\"helper\"\n"
    "  listen*, store*        as above\n"
    "  tasks*                 list of recipe or task files\n"
    "  hpke_keys*             list of this server's key files (shoal dap-key); the first is the "
    "one to take\n"
    "  collector_key*         the collector's public key file\n"
    "  verify_key_seed_file*  64 hex digits, the same at both servers, secret from everybody else\n"
    "  helper_token_file*     token that the leader sends and the helper asks for\n"
    "  collector_token_file*  leader: the token that it asks the collector for\n"
    "  helper_url             leader: where the helper is, if not where its tasks say\n"
    "  read_token_file        for /metrics; without it they are for requests from loopback only\n"
    "  keep_days              how long reports are taken and their ids known; default 14\n"
    "  job_size               leader: reports of one aggregation job; default 256\n"
    "  max_pending            leader: reports of a task that may wait before uploads are put off; "
    "default 1000000\n"
    "  job_interval_s         leader: seconds that reports wait for a full job, 0.05 to 86400; "
    "default 2\n"
    "  max_body, body_timeout_s, threads   as above\n\n"
    "Resources of draft-ietf-ppm-dap-18 below the path of the server's URL: hpke_config, "
    "tasks/ID/reports,\n"
    "tasks/ID/collection_jobs; tasks/ID/aggregation_jobs, tasks/ID/aggregate_shares; and /metrics, "
    "/healthz.\n";

typedef struct server {
    serve_config config;
    agg_http_secret batch_secret, read_token;
    agg_store *store;
    serve_collections collections;
    serve_results *results;
    serve_folder *folder;
    serve_http *http;
    uint16_t port;
    serve_plan plan;
} server;

static agg_err load(server *s, agg_error *error, const char *path)
{
    agg_err err = serve_config_load(&s->config, error, path);
    if (err == SHOAL_OK)
        err = agg_http_secret_load(&s->batch_secret, error, s->config.batch_secret_file);
    if (err == SHOAL_OK && s->config.read_token_file != NULL) {
        err = agg_http_secret_load(&s->read_token, error, s->config.read_token_file);
    }
    return err;
}

static agg_err open_rooms(server *s, agg_error *error)
{
    static char name[] = "serve";
    agg_err err = agg_store_open(&s->store, error, s->config.store);
    if (err == SHOAL_OK)
        err = serve_collections_load(&s->collections, error, &s->config, s->store, agg_log_line,
                                     name);
    return err;
}

// What a limit leaves to what is not the program; 1 where that is nothing.
static uint64_t data_limit(uint64_t limit)
{
    if (limit == 0) return 0;
    return limit > CLI_PROGRAM_BYTES ? limit - CLI_PROGRAM_BYTES : 1;
}

static agg_err plan_memory(server *s, agg_error *error, uint64_t limit)
{
    char command[] = "serve";
    agg_err err = serve_memory_plan(&s->plan, error, &s->config, &s->collections, s->store,
                                    data_limit(limit));
    if (err == SHOAL_OK) err = cli_state_memory(error, command, s->plan.bytes, limit);
    agg_store_set_fold_bytes(s->store, s->plan.fold_bytes);
    return err;
}

static agg_err start(server *s, agg_error *error)
{
    agg_err err =
        serve_results_start(&s->results, error, s->store, &s->collections, s->plan.kept_bytes);
    if (err == SHOAL_OK) {
        err = serve_folder_start(&s->folder, error, s->store, &s->collections, &s->plan,
                                 s->config.fold_interval_s);
    }
    const serve_rooms rooms = {.config = &s->config,
                               .store = s->store,
                               .collections = &s->collections,
                               .results = s->results,
                               .batch_secret = &s->batch_secret,
                               .read_token =
                                   s->config.read_token_file == NULL ? NULL : &s->read_token,
                               .room = s->plan.room};
    return err == SHOAL_OK ? serve_http_start(&s->http, &s->port, error, &rooms) : err;
}

// Nothing new, then the answers under way, then a last fold of all that was acknowledged. Open
// connections may ask until HTTP has stopped, so what answers them is released after that.
static agg_err stop(server *s, agg_error *error)
{
    if (s->http != NULL) serve_http_quiesce(s->http);
    serve_results_stop(s->results);
    serve_http_stop(s->http);
    serve_results_release(s->results);
    agg_err err = serve_folder_stop(s->folder, error);
    serve_collections_release(&s->collections);
    agg_store_close(s->store);
    serve_config_release(&s->config);
    return err;
}

static agg_err run_one(agg_error *error, const char *path, uint64_t limit, bool is_check)
{
    server s = {0};
    agg_http_stop_block();
    agg_err err = load(&s, error, path);
    if (err == SHOAL_OK) err = open_rooms(&s, error);
    if (err == SHOAL_OK) err = plan_memory(&s, error, limit);
    if (err == SHOAL_OK && !is_check) err = start(&s, error);
    if (err == SHOAL_OK && is_check) fprintf(stderr, "shoal: serve: %s: as it should be\n", path);
    if (err == SHOAL_OK && !is_check) {
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

// A configuration with a role is of one of two servers.
static agg_err run_dap(agg_error *error, const char *path, const char *role, uint64_t limit,
                       bool is_check)
{
    char command[] = "serve";
    agg_dap_plan plan;
    agg_dap_config config;
    agg_err err = agg_dap_config_load(&config, error, path);
    if (err != SHOAL_OK) return err;
    const char *own = config.role == SHOAL_DAP_LEADER ? "leader" : "helper";
    if (role != NULL && strcmp(role, own) != 0) {
        err = agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                       "--role %s: %s is the configuration of a %s", role, path, own);
    } else {
        agg_http_stop_block();
        err = agg_dap_memory_plan(&plan, error, &config, data_limit(limit));
        if (err == SHOAL_OK) err = cli_state_memory(error, command, plan.bytes, limit);
        if (err == SHOAL_OK) err = agg_dap_serve(error, &config, &plan, is_check);
        if (err == SHOAL_OK && is_check)
            fprintf(stderr, "shoal: serve: %s: as it should be\n", path);
    }
    agg_dap_config_release(&config);
    return err;
}

static agg_err run_any(agg_error *error, const char *path, const char *role, uint64_t limit,
                       bool is_check)
{
    serve_memory_settle();
    if (agg_dap_config_is(path)) return run_dap(error, path, role, limit, is_check);
    if (role == NULL) return run_one(error, path, limit, is_check);
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "--role %s: %s has no \"role\"", role,
                    path);
}

typedef struct arguments {
    const char *config, *role, *memory;
    bool is_check;
} arguments;

static agg_err run(agg_error *error, void *context, const command_words *words)
{
    const arguments *a = context;
    uint64_t limit = 0;
    (void)words;
    agg_err err = cli_read_memory(&limit, error, a->memory);
    return err == SHOAL_OK ? run_any(error, a->config, a->role, limit, a->is_check) : err;
}

static const command_option options[] = {
    {.name = "config", .letter = 'c', .at = offsetof(arguments, config), .is_required = true},
    OPTION("role", role),
    OPTION("memory", memory),
    OPTION("check", is_check),
    LAST_OPTION};

const cli_command cmd_serve = {.name = "serve",
                               .summary = "an HTTP server: batches in, results out",
                               .help = help_text,
                               .example = "  shoal serve --config serve.json --check\n",
                               .options = options,
                               .arguments_size = sizeof(arguments),
                               .words_refused = "serve takes no arguments; see shoal serve --help",
                               .run = run};
