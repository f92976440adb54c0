// SPDX-License-Identifier: Apache-2.0
// shoal serve: batches in over HTTP, recipes, results, page and metrics out; or one of two servers
// that add up shares.
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "dap_serve.h"
#include "http_stop.h"
#include "memory_option.h"
#include "serve_check.h"
#include "serve_memory.h"
#include "serve_run.h"

static const char help_text[] =
    "Usage: shoal serve --config FILE\n"
    "\n"
    "Takes batches from edge workers over HTTP, folds them by recipe into blocks, and answers "
    "with\n"
    "recipes, results, a page and metrics. Ends on SIGTERM after folding what waits. SIGHUP\n"
    "reloads recipes, dictionaries, secrets and readers; a file that is wrong refuses the whole\n"
    "reload, and the old configuration goes on. Servers with a role do not reload.\n"
    "\n"
    "  --config FILE   JSON; paths in it start at the file's folder; unknown fields are refused\n"
    "  --role ROLE     leader or helper: one of two servers; must agree with \"role\" in the file\n"
    "  --memory SIZE   take at most this much memory, such as 256M or 2G, with fewer connections,\n"
    "                  bodies, answers and jobs at once. Without it, large amounts are logged\n"
    "  --check         read configuration, recipes, dictionaries, secrets and the whole store, "
    "say\n"
    "                  every problem and how to mend it, and end; opens no port. A store that is\n"
    "                  missing is not made, and one in use is not read\n"
    "  --format FORMAT text (default) or json, of --check\n"
    "  --watch         reload when the configuration, or a file that it names, changes\n"
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
    "  honest              share of the reports, 0.01 to 1, that central guarantees take to be\n"
    "                      honest; without it results state no central epsilon\n"
    "  growth_alarm        times the usual reports a day that raise an alarm; above 1, or 0 for\n"
    "                      none; default 3\n"
    "  max_body            bytes of the largest batch; default 16777216\n"
    "  body_timeout_s      seconds for a batch to arrive; default 30\n"
    "  threads             of the HTTP pool; default 4\n"
    "  limits              what senders without a token may take; docs/operate.md has the members\n"
    "  edges               list of the edges' addresses, to which /operations links\n"
    "\n"
    "Results are made of whole closed blocks: at a tick of the recipe (block.tick_s) the open "
    "block\n"
    "closes if it holds block.minimum reports. Recipes with aggregation \"sum\" store no record.\n"
    "\n"
    "Routes: POST /v1/batches; GET /v1/recipes,\n"
    "/v1/results/ID?dictionary=&period=&from=&to=&top=, /v1/sums/ID, /, /recipes/ID, /books,\n"
    "/operations, /metrics, /healthz, /sign-in; POST /sign-in, /sign-out. Put a TLS proxy in\n"
    "front of any address but loopback.\n"
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

// Refuses a role that is not the configuration's.
static agg_err check_role(agg_error *error, const agg_dap_config *config, const char *path,
                          const char *role)
{
    const char *own = config->role == SHOAL_DAP_LEADER ? "leader" : "helper";
    if (role == NULL || strcmp(role, own) == 0) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                    "--role %s: %s is the configuration of a %s", role, path, own);
}

// Runs one of two servers, or checks what its configuration names.
static agg_err start_dap(agg_error *error, const agg_dap_config *config, uint64_t limit,
                         bool is_check)
{
    char command[] = "serve";
    agg_dap_plan plan;
    agg_err err = agg_dap_memory_plan(&plan, error, config, serve_data_limit(limit));
    if (err == SHOAL_OK) err = cli_state_memory(error, command, plan.bytes, limit);
    return err == SHOAL_OK ? agg_dap_serve(error, config, &plan, is_check) : err;
}

static agg_err run_dap(agg_error *error, const char *path, const char *role, uint64_t limit)
{
    agg_dap_config config;
    agg_err err = agg_dap_config_load(&config, error, path);
    if (err != SHOAL_OK) return err;
    err = check_role(error, &config, path, role);
    if (err == SHOAL_OK) {
        agg_http_stop_block();
        err = start_dap(error, &config, limit, false);
    }
    agg_dap_config_release(&config);
    return err;
}

// Checks the store of one of two servers; one that is not there, or in use, is not touched.
static agg_err check_dap_store(agg_check_report *report, agg_error *error, agg_dap_config *config,
                               uint64_t limit)
{
    char spare[SERVE_SPARE_SIZE];
    serve_store_state state = serve_check_store_folder(report, config->store);
    if (state == SERVE_STORE_WRONG) return SHOAL_OK;
    if (state == SERVE_STORE_HERE) return start_dap(error, config, limit, true);
    agg_err err = serve_spare_make(spare, error);
    if (err != SHOAL_OK) return err;
    char *store = config->store;
    config->store = spare;
    err = start_dap(error, config, limit, true);
    config->store = store;
    serve_spare_remove(spare);
    return err;
}

static agg_err check_dap(agg_check_report *report, agg_error *error, const char *path,
                         const char *role, uint64_t limit, int *exit_code)
{
    agg_dap_config config;
    agg_error found;
    if (agg_dap_config_load(&config, &found, path) != SHOAL_OK) {
        agg_check_problem(report, "correct the file; shoal serve --help lists the fields", "%s",
                          found.text);
        return SHOAL_OK;
    }
    agg_err err = check_role(error, &config, path, role);
    if (err == SHOAL_OK) {
        for (size_t i = 0; i < config.n_tasks; i++)
            agg_check_right(report, "task %s", config.tasks[i].info);
        agg_check_right(report, "keys and tokens");
        if (check_dap_store(report, &found, &config, limit) != SHOAL_OK) {
            if (found.exit_code == AGG_EXIT_IO) *exit_code = AGG_EXIT_IO;
            agg_check_problem(report, "docs/operate.md says how a store is restored", "%s",
                              found.text);
        }
    }
    agg_dap_config_release(&config);
    return err;
}

static agg_err check_any(agg_error *error, const char *path, const char *role, uint64_t limit,
                         bool is_json)
{
    agg_check_report report;
    int exit_code = AGG_EXIT_RUNTIME;
    agg_err err = agg_check_report_open(&report, error);
    if (err != SHOAL_OK) return err;
    if (agg_dap_config_is(path))
        err = check_dap(&report, error, path, role, limit, &exit_code);
    else if (role == NULL)
        serve_check(&report, path, limit, &exit_code);
    else
        err = agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "--role %s: %s has no \"role\"", role,
                       path);
    if (err == SHOAL_OK) {
        agg_check_report_print(&report, "shoal serve", path, is_json);
        if (report.n_problems > 0) err = command_end(error, exit_code);
    }
    agg_check_report_close(&report);
    return err;
}

static agg_err run_any(agg_error *error, const char *path, const char *role, uint64_t limit,
                       bool is_watched)
{
    if (agg_dap_config_is(path) && is_watched)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "--watch: a server with a role does not reload; restart it");
    if (agg_dap_config_is(path)) return run_dap(error, path, role, limit);
    if (role == NULL) return serve_run(error, path, limit, is_watched);
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "--role %s: %s has no \"role\"", role,
                    path);
}

typedef struct arguments {
    const char *config, *role, *memory, *format;
    bool is_check, is_watched;
} arguments;

static agg_err run(agg_error *error, void *context, const command_words *words)
{
    static const char *const formats[] = {"text", "json", NULL};
    const arguments *a = context;
    uint64_t limit = 0;
    size_t format = 0;
    (void)words;
    agg_err err = cli_read_memory(&limit, error, a->memory);
    if (err == SHOAL_OK)
        err =
            command_read_name(&format, error, formats, a->format, "--format: must be text or json");
    if (err == SHOAL_OK && a->format != NULL && !a->is_check)
        err = command_refuse(error, "--format belongs to --check");
    if (err != SHOAL_OK) return err;
    serve_memory_settle();
    if (a->is_check) return check_any(error, a->config, a->role, limit, format == 1);
    return run_any(error, a->config, a->role, limit, a->is_watched);
}

static const command_option options[] = {
    {.name = "config", .letter = 'c', .at = offsetof(arguments, config), .is_required = true},
    OPTION("role", role),
    OPTION("memory", memory),
    OPTION("check", is_check),
    OPTION("format", format),
    OPTION("watch", is_watched),
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
