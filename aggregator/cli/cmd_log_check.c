// SPDX-License-Identifier: Apache-2.0
// shoal log check and shoal log prove: read a log from a folder or a server.
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "agg_file.h"
#include "agg_size.h"
#include "commands.h"
#include "dap_http.h"
#include "log_actions.h"
#include "options.h"
#include "print_text.h"
#include "recipe_json.h"
#include "tlog_folder.h"
#include "tlog_log.h"

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

// Compares with the head of the last look, if there was one.
static agg_err compare(agg_tlog *log, uint64_t *seen, agg_error *error, const char *path,
                       const agg_tlog_key *key)
{
    struct stat status;
    agg_bytes note;
    agg_tlog_head head;
    *seen = UINT64_MAX;
    if (stat(path, &status) != 0) return SHOAL_OK;
    agg_err err = agg_file_read(&note, error, path, AGG_TLOG_NOTE_MAX);
    if (err != SHOAL_OK) return err;
    err = agg_tlog_follows(log, error, (const char *)note.data, note.len, key);
    if (err == SHOAL_OK) err = agg_tlog_head_read(&head, error, (const char *)note.data, note.len);
    if (err == SHOAL_OK) *seen = head.size;
    free(note.data);
    return err;
}

static agg_err keep_state(const agg_tlog *log, agg_error *error, const char *path)
{
    agg_file file;
    agg_err err = agg_file_create(&file, error, path);
    if (err != SHOAL_OK) return err;
    (void)fwrite(log->note, 1, log->note_len, file.stream); // agg_file_commit finds what failed
    return agg_file_commit(&file, error);
}

static void print_day(uint32_t day)
{
    time_t at = (time_t)day * 86400;
    struct tm date;
    char text[32] = "";
    if (gmtime_r(&at, &date) != NULL) strftime(text, sizeof text, "%Y-%m-%d", &date);
    fputs(text, stdout);
}

static void print_table(const agg_tlog *log, bool is_signed, uint64_t seen)
{
    char root[65];
    agg_hex(root, log->head.root, 32);
    printf("log         %s\n", log->head.origin);
    printf("entries     %" PRIu64 ": %" PRIu64 " recipes, %" PRIu64 " queries, %" PRIu64
           " key lists\n",
           log->head.size, log->counts[AGG_TLOG_RECIPE], log->counts[AGG_TLOG_QUERY],
           log->counts[AGG_TLOG_KEYS]);
    printf("root        %s\n", root);
    printf("signature   %s\n", is_signed ? "good" : "not checked: no --key is given");
    if (log->head.signatures > 1)
        printf("            %zu lines of other keys, not checked\n", log->head.signatures - 1);
    if (log->counts[AGG_TLOG_KEYS] > 0) {
        printf("key list    serial %" PRIu32 ", entry %" PRIu64 ", ", log->keys->serial,
               log->keys_at);
        print_day(log->keys->from);
        fputs(" to ", stdout);
        print_day(log->keys->until);
        putchar('\n');
    }
    if (seen != UINT64_MAX)
        printf("last look   %" PRIu64 " entries, and all are still there\n", seen);
}

static void print_json(const agg_tlog *log, bool is_signed, uint64_t seen)
{
    char root[65];
    agg_hex(root, log->head.root, 32);
    fputs("{\"log\":", stdout);
    agg_print_json_text(stdout, log->head.origin, strlen(log->head.origin));
    printf(",\"fault\":null,\"size\":%" PRIu64 ",\"recipes\":%" PRIu64 ",\"queries\":%" PRIu64
           ",\"key_lists\":%" PRIu64 ",\"root\":\"%s\",\"signature\":\"%s\",\"keys\":",
           log->head.size, log->counts[AGG_TLOG_RECIPE], log->counts[AGG_TLOG_QUERY],
           log->counts[AGG_TLOG_KEYS], root, is_signed ? "good" : "unchecked");
    if (log->counts[AGG_TLOG_KEYS] > 0)
        printf("{\"serial\":%" PRIu32 ",\"index\":%" PRIu64 ",\"from\":%" PRIu32
               ",\"until\":%" PRIu32 "}",
               log->keys->serial, log->keys_at, log->keys->from, log->keys->until);
    else
        fputs("null", stdout);
    if (seen != UINT64_MAX)
        printf(",\"seen\":%" PRIu64 "}\n", seen);
    else
        fputs(",\"seen\":null}\n", stdout);
}

static void tell_fault(const agg_tlog *log, const agg_error *error)
{
    printf("{\"fault\":\"%s\",\"text\":", agg_tlog_fault_name(log->fault));
    agg_print_json_text(stdout, error->text, strlen(error->text));
    fputs("}\n", stdout);
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
    if (err == SHOAL_OK && a->state != NULL) err = compare(log, &seen, error, a->state, known);
    if (err == SHOAL_OK && a->state != NULL) err = keep_state(log, error, a->state);
    if (err != SHOAL_OK && is_json && log->fault != AGG_TLOG_NONE) tell_fault(log, error);
    if (err != SHOAL_OK) {
        if (log->fault != AGG_TLOG_NONE)
            agg_error_prefix(error, "%s", agg_tlog_fault_name(log->fault));
        return err;
    }
    if (is_json)
        print_json(log, known != NULL, seen);
    else
        print_table(log, known != NULL, seen);
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
    uint8_t proof[AGG_TLOG_PROOF_MAX][AGG_TLOG_HASH], base64[48];
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
    size_t n = agg_tlog_tree_inclusion(proof, &log->tree, index, log->head.size);
    printf("c2sp.org/tlog-proof@v1\nindex %" PRIu64 "\n", index);
    for (size_t i = 0; i < n; i++) {
        EVP_EncodeBlock(base64, proof[i], AGG_TLOG_HASH);
        printf("%s\n", (const char *)base64);
    }
    printf("\n%s", log->note);
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
