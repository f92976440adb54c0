// SPDX-License-Identifier: Apache-2.0
// shoal log check and shoal log prove: read a log from a folder or a server.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "commands.h"
#include "dap_http.h"
#include "log_actions.h"
#include "options.h"
#include "tlog_folder.h"
#include "tlog_log.h"
#include "tlog_print.h"

static const char check_help[] =
    "Usage: shoal log check [--key VERIFIER] [--state FILE] FOLDER|URL\n"
    "\n"
    "Checks the signature of a log's head, every entry, every tile, and that nothing was taken\n"
    "back since the last look. Exits with 3 if the log is not believable: forged, tampered with,\n"
    "rolled back or forked; with 1 if it has another form; with 5 if a file is missing.\n"
    "\n"
    "  --key VERIFIER    the log's verifier key, as shoal log init printed it; without it, the\n"
    "                    signature is not checked\n"
    "  --state FILE      keeps the head that was seen, and compares with the one kept before\n"
    "  --format FORMAT   table (default) or json\n";

static const char prove_help[] =
    "Usage: shoal log prove [--key VERIFIER] FOLDER|URL INDEX\n"
    "\n"
    "Checks the log as shoal log check does, and prints the proof that an entry is in it\n"
    "(c2sp.org/tlog-proof): its index, the hashes beside its way to the root, and the signed "
    "head.\n"
    "\n"
    "  --key VERIFIER   the log's verifier key\n";

typedef struct arguments {
    const char *key, *state, *format;
} arguments;

agg_err log_read_format(bool *is_json, agg_error *error, const char *text)
{
    static const char *const formats[] = {"table", "json", NULL};
    size_t format = 0;
    agg_err err = command_read_name(&format, error, formats, text, "--format takes table or json");
    *is_json = format == 1;
    return err;
}

// ---- reading ----

// A log on a server.
typedef struct server {
    const char *url;
    agg_http_client *client;
} server;

static agg_err read_server(void *context, agg_bytes *bytes, agg_error *error, const char *path,
                           size_t max)
{
    const server *s = context;
    size_t len = strlen(s->url);
    agg_http_response response;
    if (len > 0 && s->url[len - 1] == '/') len--;
    size_t size = len + strlen(path) + 2;
    char *url = agg_alloc(error, size, 1);
    if (url == NULL) return AGG_ERR_MEMORY;
    snprintf(url, size, "%.*s/%s", (int)len, s->url, path);
    const agg_http_request request = {
        .client = s->client, .method = "GET", .url = url, .max_body = max};
    agg_err err = agg_http_fetch(&response, error, &request);
    free(url);
    if (err != SHOAL_OK) return err;
    if (response.status != 200) {
        err = agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "status %" PRIu32, response.status);
        agg_http_response_release(&response);
        return err;
    }
    *bytes = (agg_bytes){response.body, response.body_len}; // it is followed by a NUL, too
    return SHOAL_OK;
}

static bool is_url(const char *text)
{
    return strncmp(text, "http://", 7) == 0 || strncmp(text, "https://", 8) == 0;
}

static agg_err load(agg_tlog *log, agg_error *error, const char *place, const agg_tlog_key *key)
{
    server s = {.url = place};
    agg_tlog_source source = agg_tlog_folder(place);
    if (is_url(place)) {
        s.client = agg_http_client_new();
        source = (agg_tlog_source){&s, read_server};
    }
    agg_err err = agg_tlog_load(log, error, &source, key);
    if (err == SHOAL_OK) err = agg_tlog_check_pointers(log, error, &source);
    agg_http_client_free(s.client);
    return err;
}

static agg_err check(agg_tlog *log, agg_error *error, const arguments *a, const char *place,
                     bool is_json)
{
    agg_tlog_key key;
    uint64_t seen = UINT64_MAX;
    agg_err err = a->key == NULL ? SHOAL_OK : agg_tlog_key_read(&key, error, a->key);
    if (err != SHOAL_OK) return err;
    const agg_tlog_key *known = a->key == NULL ? NULL : &key;
    err = load(log, error, place, known);
    if (err == SHOAL_OK && a->state != NULL)
        err = agg_tlog_compare_seen(log, &seen, error, a->state, known);
    if (err == SHOAL_OK && a->state != NULL) err = agg_tlog_keep_seen(log, error, a->state);
    if (err != SHOAL_OK && is_json && log->fault != AGG_TLOG_NONE) agg_tlog_print_fault(log, error);
    if (err != SHOAL_OK) {
        if (log->fault != AGG_TLOG_NONE)
            agg_error_prefix(error, "%s", agg_tlog_fault_name(log->fault));
        return err;
    }
    agg_tlog_print(log, known != NULL, seen, is_json);
    return SHOAL_OK;
}

static agg_err run_check(agg_error *error, void *context, const command_words *words)
{
    const arguments *a = context;
    static agg_tlog log;
    bool is_json = false;
    agg_err err = log_read_format(&is_json, error, a->format);
    if (err == SHOAL_OK) err = agg_tlog_init(&log, error);
    if (err == SHOAL_OK) err = check(&log, error, a, words->texts[0], is_json);
    agg_tlog_release(&log);
    return err;
}

static agg_err prove(agg_tlog *log, agg_error *error, const arguments *a, const char *const *words)
{
    uint64_t index = 0;
    agg_tlog_key key;
    agg_err err = a->key == NULL ? SHOAL_OK : agg_tlog_key_read(&key, error, a->key);
    if (err == SHOAL_OK) err = load(log, error, words[0], a->key == NULL ? NULL : &key);
    if (err != SHOAL_OK) return err;
    if (log->head.size == 0)
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE, "the log is empty");
    if (cli_read_whole(&index, error, "INDEX", words[1], 0, log->head.size - 1) != SHOAL_OK)
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE,
                        "INDEX must be a whole number from 0 to %" PRIu64, log->head.size - 1);
    agg_tlog_print_proof(log, index);
    return SHOAL_OK;
}

static agg_err run_prove(agg_error *error, void *context, const command_words *words)
{
    static agg_tlog log;
    agg_err err = agg_tlog_init(&log, error);
    if (err == SHOAL_OK) err = prove(&log, error, context, words->texts);
    agg_tlog_release(&log);
    return err;
}

static const command_option check_options[] = {OPTION("key", key), OPTION("state", state),
                                               OPTION("format", format), LAST_OPTION};
static const command_option prove_options[] = {OPTION("key", key), LAST_OPTION};

const cli_command log_check_action = {.name = "check",
                                      .summary = "check a whole log, and what it takes back",
                                      .help = check_help,
                                      .example =
                                          INIT_EXAMPLE "  shoal log check --state seen log\n",
                                      .options = check_options,
                                      .arguments_size = sizeof(arguments),
                                      .least_words = 1,
                                      .most_words = 1,
                                      .words_refused = "one folder or URL is needed",
                                      .run = run_check};
const cli_command log_prove_action = {
    .name = "prove",
    .summary = "print the proof that an entry is in a log",
    .help = prove_help,
    .example = INIT_EXAMPLE "  shoal log add --log log --key log.pem signed.json\n"
                            "  shoal log prove log 0\n",
    .options = prove_options,
    .arguments_size = sizeof(arguments),
    .least_words = 2,
    .most_words = 2,
    .words_refused = "a folder or URL and the number of an entry are needed",
    .run = run_prove};
