// SPDX-License-Identifier: Apache-2.0
// shoal log: makes and extends a log of recipes, queries and key lists; cmd_log_check.c checks one.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "agg_file.h"
#include "commands.h"
#include "log.h"
#include "log_actions.h"
#include "print_text.h"
#include "recipe.h"
#include "recipe_json.h"
#include "recipe_signature.h"
#include "tlog_folder.h"
#include "tlog_log.h"
#include "tlog_writer.h"

static const char help_text[] =
    "Usage: shoal log init --log FOLDER --name NAME --key FILE\n"
    "       shoal log add --log FOLDER --key FILE [--signer KEY] RECIPE...\n"
    "       shoal log keys --log FOLDER --key FILE LIST\n"
    "       shoal log check [--key VERIFIER] [--state FILE] FOLDER|URL\n"
    "       shoal log prove [--key VERIFIER] FOLDER|URL INDEX\n"
    "\n"
    "Keeps a log of what devices are asked and of the keys that they use. Entries are only ever\n"
    "added, and devices notice a log that takes one back. The folder is served as it is.\n";

static const char init_help[] =
    "Usage: shoal log init --log FOLDER --name NAME --key FILE\n"
    "\n"
    "Makes a key and an empty log, and prints the verifier key, which pages name.\n"
    "\n"
    "  --log FOLDER   where the log will lie; it must not hold one\n"
    "  --name NAME    what the log is called, such as example.org/log; no space, no plus\n"
    "  --key FILE     the private key, which is made and must not exist: a log whose key signs\n"
    "                 another one too has forked. Keep it away from servers\n";

static const char add_help[] =
    "Usage: shoal log add --log FOLDER --key FILE [--signer KEY] RECIPE...\n"
    "\n"
    "Adds recipes and queries, which must be signed and not expired. One that the log has already\n"
    "is not added again. An append that was cut short before is finished first.\n"
    "\n"
    "  --log FOLDER      the log\n"
    "  --key FILE        the log's private key\n"
    "  --signer KEY      the public key that must have signed the recipes, 64 hex digits or a PEM\n"
    "                    file; default: any\n"
    "  --format FORMAT   table (default) or json\n";

static const char keys_help[] =
    "Usage: shoal log keys --log FOLDER --key FILE LIST\n"
    "\n"
    "Adds a list of keys in force, a JSON file with from, until (days since 1970), gateway and\n"
    "tokens; its serial is the next one. The list must be in force today. It must share a key of\n"
    "the gateway with the list before, and list the token keys of today and later that were "
    "listed\n"
    "before, unchanged.\n"
    "\n"
    "  --log FOLDER      the log\n"
    "  --key FILE        the log's private key\n"
    "  --format FORMAT   table (default) or json\n";

typedef struct arguments {
    const char *log, *name, *key, *signer, *format;
} arguments;

#define PEM_MAX ((size_t)65536) // bytes of a key file
#define LIST_MAX ((size_t)1 << 20)

static uint32_t today(void)
{
    return (uint32_t)((uint64_t)time(NULL) / 86400);
}

static void wipe_free(char *pem, size_t len)
{
    if (pem != NULL) explicit_bzero(pem, len);
    free(pem);
}

// ---- init ----

// Writes a file that only its owner may read, and that did not exist.
static agg_err write_private(agg_error *error, const char *path, const char *pem, size_t len)
{
    agg_file file;
    char buffer[BUFSIZ];
    struct stat status;
    if (stat(path, &status) == 0)
        return agg_fail(error, SHOAL_ERR_DUPLICATE, AGG_EXIT_USAGE,
                        "%s exists; a key is never replaced", path);
    agg_err err = agg_file_create(&file, error, path);
    if (err != SHOAL_OK) return err;
    setvbuf(file.stream, buffer, _IOFBF, sizeof buffer);
    if (fchmod(fileno(file.stream), 0600) != 0) {
        agg_file_abandon(&file);
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: cannot be kept from other readers",
                        path);
    }
    (void)fwrite(pem, 1, len, file.stream); // agg_file_commit finds what failed
    err = agg_file_commit(&file, error);
    explicit_bzero(buffer, sizeof buffer);
    return err;
}

static agg_err run_init(agg_error *error, void *context, const command_words *words)
{
    const arguments *a = context;
    static const uint8_t none[32] = {0};
    char verifier[AGG_TLOG_VERIFIER_MAX], *pem = NULL;
    size_t len = 0;
    agg_tlog_key key;
    (void)words;
    agg_err err = agg_tlog_key_make(&key, error, a->name, none); // refuses a bad name first
    if (err == SHOAL_OK && agg_tlog_folder_has(a->log, "checkpoint"))
        err = agg_fail(error, SHOAL_ERR_DUPLICATE, AGG_EXIT_USAGE,
                       "%s has a log; a log is never begun anew", a->log);
    if (err == SHOAL_OK) err = agg_tlog_private_new(&pem, &len, error);
    if (err == SHOAL_OK) err = write_private(error, a->key, pem, len);
    if (err == SHOAL_OK) err = agg_tlog_create(&key, error, a->log, a->name, pem, len);
    wipe_free(pem, len);
    if (err != SHOAL_OK) return err;
    agg_tlog_key_print(verifier, &key);
    printf("%s\n", verifier);
    return SHOAL_OK;
}

// ---- add and keys ----

// An open writer, and the private key that it signs with.
typedef struct writing {
    agg_tlog_writer writer;
    agg_bytes pem;
    bool is_json;
    size_t n_added;
} writing;

static agg_err open_writer(writing *w, agg_error *error, const arguments *a)
{
    agg_err err = log_read_format(&w->is_json, error, a->format);
    if (err == SHOAL_OK) err = agg_file_read(&w->pem, error, a->key, PEM_MAX);
    if (err != SHOAL_OK) return err;
    err = agg_tlog_writer_open(&w->writer, error, a->log, (const char *)w->pem.data, w->pem.len);
    if (err != SHOAL_OK && error->exit_code == AGG_EXIT_USAGE) // it is the key that is wrong
        agg_error_prefix(error, "%s", a->key);
    if (w->writer.repaired > 0) {
        char command[] = "log", text[96];
        snprintf(text, sizeof text, "an append was cut short: its %" PRIu64 " entries are added",
                 w->writer.repaired);
        agg_log_line(command, text);
    }
    return err;
}

static void close_writer(writing *w)
{
    agg_tlog_writer_close(&w->writer);
    wipe_free((char *)w->pem.data, w->pem.len);
}

static void tell_added(writing *w, const char *what, uint64_t index, bool is_new)
{
    if (w->is_json) {
        printf("%s{\"entry\":", w->n_added++ == 0 ? "{\"entries\":[" : ",");
        agg_print_json_text(stdout, what, strlen(what));
        printf(",\"index\":%" PRIu64 ",\"new\":%s}", index, is_new ? "true" : "false");
        return;
    }
    printf("%s %" PRIu64 "  %s\n", is_new ? "added as entry" : "is already entry", index, what);
}

static agg_err finish(writing *w, agg_error *error)
{
    agg_err err = agg_tlog_writer_commit(&w->writer, error, today());
    if (err == SHOAL_OK && w->is_json) printf("],\"size\":%" PRIu64 "}\n", w->writer.log.head.size);
    if (err == SHOAL_OK && !w->is_json)
        printf("entries in the log: %" PRIu64 "\n", w->writer.log.head.size);
    return err;
}

static agg_err check_recipe(agg_error *error, const agg_recipe *recipe, const uint8_t *signer)
{
    agg_err err = agg_recipe_verify(error, recipe);
    if (err == SHOAL_OK && signer != NULL && memcmp(recipe->key, signer, 32) != 0)
        err = agg_fail(error, AGG_ERR_SIGNATURE, AGG_EXIT_PRIVACY, "is signed by another key");
    if (err == SHOAL_OK && recipe->recipe->expires_day < today())
        err = agg_fail(error, SHOAL_ERR_EXPIRED, AGG_EXIT_USAGE, "has expired");
    return err;
}

// Adds the recipe of a file. A part stands for its whole collection, whose hash devices compute.
static agg_err add_file(writing *w, agg_error *error, const char *path, const uint8_t *signer)
{
    agg_recipe recipe;
    uint64_t index = 0;
    bool is_new = false;
    char hex[65], what[96];
    agg_err err = agg_recipe_from_file(&recipe, error, path);
    if (err != SHOAL_OK) return err;
    agg_tlog_type type = recipe.recipe->version != 0 ? AGG_TLOG_QUERY : AGG_TLOG_RECIPE;
    err = check_recipe(error, &recipe, signer);
    if (err == SHOAL_OK)
        err = agg_tlog_writer_add(&w->writer, &index, &is_new, error, type,
                                  recipe.recipe->query_hash, recipe.recipe->expires_day);
    if (err != SHOAL_OK) agg_error_prefix(error, "%s", path);
    agg_hex(hex, recipe.recipe->query_hash, 32);
    snprintf(what, sizeof what, "%s %s", agg_tlog_type_name(type), hex);
    if (err == SHOAL_OK) tell_added(w, what, index, is_new);
    agg_recipe_release(&recipe);
    return err;
}

static agg_err read_signer(uint8_t key[32], agg_error *error, const char *text)
{
    agg_bytes file = {NULL, 0};
    if (strlen(text) == 64 && agg_unhex(key, 32, text)) return SHOAL_OK;
    agg_err err = agg_file_read(&file, error, text, PEM_MAX);
    if (err != SHOAL_OK) return err;
    err = agg_ed25519_public(key, error, (const char *)file.data, file.len);
    if (err != SHOAL_OK) agg_error_prefix(error, "%s", text);
    free(file.data);
    return err;
}

static agg_err run_add(agg_error *error, void *context, const command_words *words)
{
    const arguments *a = context;
    static writing w;
    uint8_t signer[32];
    agg_err err = a->signer == NULL ? SHOAL_OK : read_signer(signer, error, a->signer);
    if (err != SHOAL_OK) return err;
    err = open_writer(&w, error, a);
    for (int i = 0; i < words->n && err == SHOAL_OK; i++)
        err = add_file(&w, error, words->texts[i], a->signer == NULL ? NULL : signer);
    if (err == SHOAL_OK) err = finish(&w, error);
    close_writer(&w);
    return err;
}

static agg_err add_list(writing *w, agg_error *error, const char *path)
{
    static agg_tlog_entry list;
    const agg_tlog *log = &w->writer.log;
    agg_bytes file;
    uint64_t index = 0;
    bool is_new = false;
    char what[48];
    uint32_t serial = log->counts[AGG_TLOG_KEYS] > 0 ? log->keys->serial : 0;
    agg_err err = agg_file_read(&file, error, path, LIST_MAX);
    if (err != SHOAL_OK) return err;
    // A list without a serial may be the newest one itself, else it is the next.
    err = agg_tlog_keys_read(&list, error, (const char *)file.data, file.len, serial);
    if (serial == 0 || (err == SHOAL_OK && !agg_tlog_writer_is_newest(&w->writer, &list)))
        err = agg_tlog_keys_read(&list, error, (const char *)file.data, file.len, serial + 1);
    if (err == SHOAL_OK)
        err = agg_tlog_writer_add_keys(&w->writer, &index, &is_new, error, &list, today());
    free(file.data);
    if (err != SHOAL_OK) {
        agg_error_prefix(error, "%s", path);
        return err;
    }
    snprintf(what, sizeof what, "keys %" PRIu32, list.serial);
    tell_added(w, what, index, is_new);
    return SHOAL_OK;
}

static agg_err run_keys(agg_error *error, void *context, const command_words *words)
{
    static writing w;
    agg_err err = open_writer(&w, error, context);
    if (err == SHOAL_OK) err = add_list(&w, error, words->texts[0]);
    if (err == SHOAL_OK) err = finish(&w, error);
    close_writer(&w);
    return err;
}

// ---- the tables ----

static const command_option init_options[] = {REQUIRED_OPTION("log", log),
                                              REQUIRED_OPTION("name", name),
                                              REQUIRED_OPTION("key", key), LAST_OPTION};
static const command_option add_options[] = {REQUIRED_OPTION("log", log),
                                             REQUIRED_OPTION("key", key), OPTION("signer", signer),
                                             OPTION("format", format), LAST_OPTION};
static const command_option keys_options[] = {REQUIRED_OPTION("log", log),
                                              REQUIRED_OPTION("key", key), OPTION("format", format),
                                              LAST_OPTION};
static const cli_command init_row = {.name = "init",
                                     .summary = "make a key and an empty log",
                                     .help = init_help,
                                     .example = INIT_EXAMPLE,
                                     .options = init_options,
                                     .arguments_size = sizeof(arguments),
                                     .run = run_init};
static const cli_command add_action = {.name = "add",
                                       .summary = "add signed recipes and queries",
                                       .help = add_help,
                                       .example = INIT_EXAMPLE
                                       "  shoal log add --log log --key log.pem signed.json\n",
                                       .options = add_options,
                                       .arguments_size = sizeof(arguments),
                                       .least_words = 1,
                                       .most_words = COMMAND_WORDS_MAX,
                                       .words_refused = "no recipe to add",
                                       .run = run_add};
static const cli_command keys_row = {.name = "keys",
                                     .summary = "add a list of keys in force",
                                     .help = keys_help,
                                     .example = INIT_EXAMPLE
                                     "  shoal log keys --log log --key log.pem keys.json\n",
                                     .options = keys_options,
                                     .arguments_size = sizeof(arguments),
                                     .least_words = 1,
                                     .most_words = 1,
                                     .words_refused = "keys takes one list",
                                     .run = run_keys};
static const cli_command *const actions[] = {&init_row,         &add_action,       &keys_row,
                                             &log_check_action, &log_prove_action, NULL};

const cli_command cmd_log = {.name = "log",
                             .summary = "a log of recipes, queries and key lists",
                             .help = help_text,
                             .example = INIT_EXAMPLE
                             "  shoal log add --log log --key log.pem signed.json\n"
                             "  shoal log check log\n",
                             .actions = actions};
