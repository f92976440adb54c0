// SPDX-License-Identifier: Apache-2.0
// shoal serve: batches in over HTTP, recipes, results, page and metrics out; or one of two servers
// that add up shares.
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "dap_serve.h"
#include "http_stop.h"
#include "memory_option.h"
#include "serve_memory.h"
#include "serve_run.h"

static const char help_text[] =
    "Usage: shoal serve --config FILE\n"
    "\n"
    "Takes batches from edge workers over HTTP, folds them by recipe into blocks, and answers "
    "with\n"
    "recipes, results, a page and metrics. Ends on SIGTERM after folding what waits.\n"
    "\n"
    "  --config FILE   JSON; paths in it start at the file's folder; unknown fields are refused\n"
    "  --role ROLE     leader or helper: one of two servers; must agree with \"role\" in the file\n"
    "  --memory SIZE   take at most this much memory, such as 256M or 2G, with fewer connections,\n"
    "                  bodies, answers and jobs at once. Without it, large amounts are logged\n"
    "  --check         read configuration, recipes, dictionaries, secrets and the whole store, "
    "look\n"
    "                  for damage in it, and end\n"
    "\n"
    "Fields of a file without a role (* required):\n"
    "  listen*             numeric address and port, as \"127.0.0.1:8080\" or \"[::1]:8080\"; port "
    "0\n"
    "                      takes a free one\n"
    "  store*              folder of the durable state; made if it is missing\n"
    "  recipes*            list of recipe files\n"
    "  dictionaries        {\"recipe id\": \"file\"} or {\"recipe id\": {\"name\": \"file\"}}; the "
    "first\n"
    "                      is the default\n"
    "  batch_secret_file*  one secret a line, at least 16 characters; two while one replaces the\n"
    "                      other\n"
    "  readers             list of {\"name\", \"token_file\", \"collections\": [ids] or "
    "\"all\"}\n"
    "  read_token_file     tokens of one reader of all collections; this or readers is required\n"
    "                      unless `listen` is a loopback address\n"
    "  admin_token_file    tokens that show live counts in /metrics, and no result\n"
    "  proxy               {\"header\", \"addresses\": [ranges], \"admins\": [names]}: who "
    "signed in\n"
    "                      at a proxy; believed from these addresses only\n"
    "  audit_log           folder of the log of who asked what; default: audit in the store\n"
    "  audit_log_bytes     at which a new file of it begins; default 67108864\n"
    "  period              \"day\" (default), \"week\" (weekly ticks, where a recipe has daily "
    "ones) or\n"
    "                      \"all\" (only all days together can be asked for)\n"
    "  retention           {\"days\": 90, \"weeks\": 13}: how long questions get single days, and "
    "then\n"
    "                      weeks, before months\n"
    "  fold_interval_s     seconds between folds, 0.05 to 86400; default 2\n"
    "  check_interval_s    seconds between two looks for damage in the store, 0.05 to 2592000;\n"
    "                      default 86400\n"
    "  max_body            bytes of the largest batch; default 16777216\n"
    "  body_timeout_s      seconds for a batch to arrive; default 30\n"
    "  threads             of the HTTP pool; default 4\n"
    "\n"
    "Results are made of whole closed blocks: at a tick of the recipe (block.tick_s) the open "
    "block\n"
    "closes if it holds block.minimum reports. Recipes with aggregation \"sum\" store no record.\n"
    "\n"
    "Routes: POST /v1/batches; GET /v1/recipes,\n"
    "/v1/results/ID?dictionary=&period=&from=&to=&top=, /v1/sums/ID, /, /recipes/ID, /metrics,\n"
    "/healthz, /sign-in; POST /sign-in, /sign-out. Put a TLS proxy in front of any address\n"
    "but loopback.\n"
    "\n";

static const char help_roles[] =
    "Fields of a file with a role, for recipes whose aggregation is \"dap\":\n"
    "  role*                  \"leader\" (takes devices' reports and the collector's questions) "
    "or\n"
    "                         \"helper\"\n"
    "  listen*, store*        as above\n"
    "  tasks*                 list of recipe or task files\n"
    "  hpke_keys*             list of this server's key files (shoal dap-key); devices are given\n"
    "                         the first\n"
    "  collector_key*         the collector's public key file\n"
    "  verify_key_seed_file*  64 hex digits, the same at both servers, secret from everybody else\n"
    "  helper_token_file*     token that the leader sends and the helper requires\n"
    "  collector_token_file*  leader: the token that it requires of the collector\n"
    "  helper_url             leader: where the helper is, if not where its tasks say\n"
    "  read_token_file        for /metrics; without it only loopback may read them\n"
    "  keep_days              how long reports are taken and their ids known; default 14\n"
    "  job_size               leader: reports of one aggregation job; default 256\n"
    "  max_pending            leader: reports of a task that may wait before uploads are put off;\n"
    "                         default 1000000\n"
    "  job_interval_s         leader: seconds that reports wait for a full job, 0.05 to 86400;\n"
    "                         default 2\n"
    "  max_body, body_timeout_s, threads, check_interval_s   as above\n"
    "\n"
    "Resources of draft-ietf-ppm-dap-18 below the path of the server's URL: hpke_config,\n"
    "tasks/ID/reports, tasks/ID/collection_jobs; tasks/ID/aggregation_jobs,\n"
    "tasks/ID/aggregate_shares; and /metrics, /healthz.\n";

// Runs one of two servers; a configuration with a role is of such a server.
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
        err = agg_dap_memory_plan(&plan, error, &config, serve_data_limit(limit));
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
    if (role == NULL) return serve_run(error, path, limit, is_check);
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
                               .more_help = help_roles,
                               .example = "  shoal serve --config serve.json --check\n",
                               .options = options,
                               .arguments_size = sizeof(arguments),
                               .words_refused = "serve takes no arguments; see shoal serve --help",
                               .run = run};
