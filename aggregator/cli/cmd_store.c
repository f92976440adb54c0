// SPDX-License-Identifier: Apache-2.0
// shoal store: what an operator does to the durable state of shoal serve.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "audit_log.h"
#include "commands.h"
#include "store.h"

static const char help_text[] =
    "Usage: shoal store forget --store FOLDER [--audit-log FOLDER] ID\n"
    "\n"
    "Works on the folder in which shoal serve keeps its state. Stop the server first.\n";

static const char forget_help[] =
    "Usage: shoal store forget --store FOLDER [--audit-log FOLDER] ID\n"
    "\n"
    "Removes every report of a recipe for good: its blocks and the batches that wait. ID is the\n"
    "recipe's id, or its hash. The random ids of its batches stay, so that a batch that is sent\n"
    "again counts for nothing, also when the recipe is served again. Backups keep what they hold.\n"
    "\n"
    "  --store FOLDER      \"store\" of the server's configuration\n"
    "  --audit-log FOLDER  its \"audit_log\", where it names one: the log gets a line of this, "
    "too\n";

typedef struct arguments {
    const char *store, *audit_log;
} arguments;

// Writes the line of the audit log, before anything goes.
static agg_err note(agg_error *error, const char *folder, const char *audit_log, const char *id)
{
    agg_audit_log *log = NULL;
    agg_audit_entry entry = {.who = "operator", .via = "local", .what = "store-forget"};
    size_t size = strlen(folder) + sizeof "/" AGG_AUDIT_FOLDER;
    char *own = agg_alloc(error, size, 1);
    if (own == NULL) return AGG_ERR_MEMORY;
    snprintf(own, size, "%s/" AGG_AUDIT_FOLDER, folder);
    snprintf(entry.collection, sizeof entry.collection, "%s", id);
    agg_err err =
        agg_audit_log_open(&log, error, audit_log != NULL ? audit_log : own, AGG_AUDIT_ROTATE_MAX);
    if (err == SHOAL_OK) err = agg_audit_log_append(log, error, &entry);
    agg_audit_log_close(log);
    free(own);
    return err;
}

static agg_err forget(agg_error *error, const char *folder, const char *audit_log, const char *id)
{
    agg_store *store;
    agg_removed removed;
    agg_err err = agg_store_open(&store, error, folder);
    if (err != SHOAL_OK) return err;
    err = note(error, folder, audit_log, id);
    if (err == SHOAL_OK) err = agg_store_remove(store, &removed, error, id);
    agg_store_close(store);
    if (err != SHOAL_OK) return err;
    if (removed.collections == 0)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "%s: the store has no recipe %s",
                        folder, id);
    printf("forgot %s: %" PRIu64 " batches, %" PRIu64 " records\n", id, removed.batches,
           removed.records);
    return SHOAL_OK;
}

static agg_err run_forget(agg_error *error, void *context, const command_words *words)
{
    const arguments *a = context;
    return forget(error, a->store, a->audit_log, words->texts[0]);
}

static const command_option options[] = {REQUIRED_OPTION("store", store),
                                         OPTION("audit-log", audit_log), LAST_OPTION};

static const cli_command forget_action = {.name = "forget",
                                          .summary = "remove every report of a recipe",
                                          .help = forget_help,
                                          .example = "  shoal serve --config serve.json --check\n"
                                                     "  shoal store forget --store store fish\n",
                                          .options = options,
                                          .arguments_size = sizeof(arguments),
                                          .least_words = 1,
                                          .most_words = 1,
                                          .words_refused = "one recipe id or hash is needed",
                                          .run = run_forget};

static const cli_command *const actions[] = {&forget_action, NULL};

const cli_command cmd_store = {.name = "store",
                               .summary = "the server's durable state: forget",
                               .help = help_text,
                               .example = "  shoal serve --config serve.json --check\n"
                                          "  shoal store forget --store store fish\n",
                               .actions = actions};
