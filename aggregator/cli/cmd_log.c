// SPDX-License-Identifier: Apache-2.0
// shoal log: makes and extends a log of recipes, queries and key lists; cmd_log_check.c checks one.
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "commands.h"
#include "log_actions.h"
#include "tlog_adding.h"

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

static agg_err run_init(agg_error *error, void *context, const command_words *words)
{
    const arguments *a = context;
    char verifier[AGG_TLOG_VERIFIER_MAX];
    (void)words;
    agg_err err = agg_tlog_begin(verifier, error, a->log, a->name, a->key);
    if (err == SHOAL_OK) printf("%s\n", verifier);
    return err;
}

static agg_err open_adding(agg_tlog_adding *adding, agg_error *error, const arguments *a)
{
    bool is_json = false;
    agg_err err = log_read_format(&is_json, error, a->format);
    return err == SHOAL_OK ? agg_tlog_adding_open(adding, error, a->log, a->key, is_json) : err;
}

static agg_err run_add(agg_error *error, void *context, const command_words *words)
{
    const arguments *a = context;
    static agg_tlog_adding adding;
    uint8_t signer[32];
    agg_err err = a->signer == NULL ? SHOAL_OK : agg_tlog_read_signer(signer, error, a->signer);
    if (err != SHOAL_OK) return err;
    err = open_adding(&adding, error, a);
    for (int i = 0; i < words->n && err == SHOAL_OK; i++)
        err =
            agg_tlog_add_recipe(&adding, error, words->texts[i], a->signer == NULL ? NULL : signer);
    if (err == SHOAL_OK) err = agg_tlog_adding_finish(&adding, error);
    agg_tlog_adding_close(&adding);
    return err;
}

static agg_err run_keys(agg_error *error, void *context, const command_words *words)
{
    static agg_tlog_adding adding;
    agg_err err = open_adding(&adding, error, context);
    if (err == SHOAL_OK) err = agg_tlog_add_list(&adding, error, words->texts[0]);
    if (err == SHOAL_OK) err = agg_tlog_adding_finish(&adding, error);
    agg_tlog_adding_close(&adding);
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
