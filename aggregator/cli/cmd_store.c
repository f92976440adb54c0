// SPDX-License-Identifier: Apache-2.0
// shoal store: what an operator does to the durable state of shoal serve.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agg_size.h"
#include "audit_forgets.h"
#include "audit_log.h"
#include "commands.h"
#include "recipe_json.h"
#include "store.h"
#include "store_backup.h"

static const char help_text[] =
    "Usage: shoal store backup --store FOLDER -o FILE\n"
    "       shoal store restore --store FOLDER [--audit-log FOLDER] FILE\n"
    "       shoal store forget --store FOLDER [--audit-log FOLDER] ID\n"
    "       shoal store import --store FOLDER --recipe R --period DATE ACC\n"
    "\n"
    "Works on the folder in which shoal serve keeps its state. Stop the server first, except for\n"
    "a backup.\n";

static const char backup_help[] =
    "Usage: shoal store backup --store FOLDER -o FILE\n"
    "\n"
    "Writes what never changes again into one file: closed blocks, recipes, and the ids of all\n"
    "batches. The server may run. The open blocks and the batches that wait are left out: after a\n"
    "restore they could be published a second time, mixed differently.\n"
    "\n"
    "  --store FOLDER      \"store\" of the server's configuration\n"
    "  -o, --output FILE  must not exist; gets mode 0600 and a checksum\n";

static const char restore_help[] =
    "Usage: shoal store restore --store FOLDER [--audit-log FOLDER] FILE\n"
    "\n"
    "Makes a store of a backup, which is checked whole first. New blocks get numbers that the "
    "lost\n"
    "store never gave. Batches that came after the backup are lost, and so is what the open "
    "blocks\n"
    "held. Never let the restored store and the old one take batches at the same time.\n"
    "\n"
    "  --store FOLDER      must not exist, or be empty\n"
    "  --audit-log FOLDER  the old server's audit log: what it says was forgotten after the "
    "backup\n"
    "                      is forgotten again. The restore is noted there; else in the new store\n";

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

static const char import_help[] =
    "Usage: shoal store import --store FOLDER --recipe R --period DATE [--audit-log FOLDER] ACC\n"
    "\n"
    "Enters what several machines counted by manifests (shoal manifest) as a closed block, which "
    "the\n"
    "server then serves like its own. A manifest is imported once. ACC must count all shards of\n"
    "its manifests, and as many reports as a block has at least. A recipe whose results are\n"
    "imported takes no batches by the server.\n"
    "\n"
    "  --store FOLDER      \"store\" of the server's configuration\n"
    "  --recipe FILE       the collection's recipe (JSON)\n"
    "  --period DATE       the day of the block, YYYY-MM-DD: later than every released one\n"
    "  --audit-log FOLDER  the server's \"audit_log\", where it names one: the log gets a line of\n"
    "                      this, too\n";

typedef struct arguments {
    const char *store, *audit_log, *output, *recipe, *period;
} arguments;

// Writes the line of the audit log, before anything goes.
//   folder: of the store
//   id: of a recipe, or "" for all
static agg_err note(agg_error *error, const char *folder, const char *audit_log, const char *what,
                    const char *id)
{
    agg_audit_log *log = NULL;
    agg_audit_entry entry = {.who = "operator", .via = "local", .what = what};
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
    err = note(error, folder, audit_log, "store-forget", id);
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

static agg_err import(agg_error *error, const arguments *a, const agg_recipe *recipe,
                      agg_accumulator *acc, int32_t day)
{
    agg_store *store;
    int64_t collection = 0, number = 0;
    int32_t today = (int32_t)(time(NULL) / 86400);
    agg_err err = agg_store_open(&store, error, a->store);
    if (err != SHOAL_OK) return err;
    err = agg_store_collection(store, &collection, error, recipe->recipe, today);
    if (err == SHOAL_OK) err = note(error, a->store, a->audit_log, "store-import", recipe->id);
    if (err == SHOAL_OK)
        err = agg_store_import(store, &number, error, collection, recipe->recipe, acc, day, today);
    agg_store_close(store);
    if (err != SHOAL_OK) return err;
    printf("imported %s: %" PRIu64 " records of %zu manifests as block %" PRId64 " of %s\n",
           recipe->id, acc->n, acc->shards.n, number, a->period);
    return SHOAL_OK;
}

static agg_err run_import(agg_error *error, void *context, const command_words *words)
{
    const arguments *a = context;
    agg_recipe recipe;
    agg_accumulator acc;
    int32_t day = 0;
    if (!agg_day_parse(&day, a->period))
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "--period: not a day YYYY-MM-DD: %s",
                        a->period);
    agg_err err = agg_recipe_from_file(&recipe, error, a->recipe);
    if (err != SHOAL_OK) return err;
    err = agg_accumulator_load(&acc, error, words->texts[0]);
    if (err == SHOAL_OK) {
        err = import(error, a, &recipe, &acc, day);
        if (err != SHOAL_OK) agg_error_prefix(error, "%s", words->texts[0]);
        agg_accumulator_release(&acc);
    }
    agg_recipe_release(&recipe);
    return err;
}

static void print_moment(char text[32], int64_t time_s)
{
    struct tm utc;
    time_t seconds = (time_t)time_s;
    text[0] = '\0';
    if (gmtime_r(&seconds, &utc) != NULL) strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

static agg_err run_backup(agg_error *error, void *context, const command_words *words)
{
    const arguments *a = context;
    agg_backed_up about;
    (void)words;
    agg_err err = agg_store_backup(&about, error, a->store, a->output, time(NULL));
    if (err != SHOAL_OK) return err;
    printf("backed up %s: %" PRIu64 " recipes, %" PRIu64 " closed blocks, %" PRIu64 " records\n",
           a->store, about.recipes, about.blocks, about.records);
    return SHOAL_OK;
}

// Removes from a restore what the audit log says was forgotten after the backup.
static agg_err forget_again(agg_error *error, agg_restore *restore, const char *audit_log)
{
    agg_audit_forgets forgets = {.n = 0};
    agg_err err = agg_audit_find_forgets(&forgets, error, audit_log, restore->about.time_s);
    for (size_t i = 0; err == SHOAL_OK && i < forgets.n; i++) {
        agg_removed removed;
        err = agg_store_remove(restore->store, &removed, error, forgets.ids[i]);
        if (err == SHOAL_OK && removed.collections > 0)
            printf("forgot %s again: %" PRIu64 " records\n", forgets.ids[i], removed.records);
    }
    agg_audit_forgets_release(&forgets);
    return err;
}

static agg_err restore(agg_error *error, agg_restore *made, const arguments *a, const char *path)
{
    agg_err err = agg_restore_begin(made, error, path, a->store);
    if (err == SHOAL_OK && a->audit_log != NULL) err = forget_again(error, made, a->audit_log);
    if (err == SHOAL_OK) err = note(error, made->partial, a->audit_log, "store-restore", "");
    return err == SHOAL_OK ? agg_restore_finish(made, error) : err;
}

static agg_err run_restore(agg_error *error, void *context, const command_words *words)
{
    const arguments *a = context;
    char moment[32];
    agg_restore made;
    agg_err err = restore(error, &made, a, words->texts[0]);
    if (err != SHOAL_OK) {
        agg_restore_abandon(&made);
        return err;
    }
    print_moment(moment, made.about.time_s);
    printf("restored %s from %s: %" PRIu64 " recipes, %" PRIu64 " closed blocks, %" PRIu64
           " records\n",
           a->store, moment, made.about.recipes, made.about.blocks, made.about.records);
    if (a->audit_log == NULL)
        printf("no --audit-log: forget again what was forgotten since then\n");
    return SHOAL_OK;
}

static const command_option backup_options[] = {REQUIRED_OPTION("store", store),
                                                REQUIRED_OUTPUT_OPTION(output), LAST_OPTION};

static const cli_command backup_action = {
    .name = "backup",
    .summary = "write closed blocks and ids into one file",
    .help = backup_help,
    .example = "  shoal serve --config serve.json --check\n"
               "  shoal store backup --store store -o store.backup\n",
    .options = backup_options,
    .arguments_size = sizeof(arguments),
    .words_refused = "backup takes no arguments; see shoal store backup --help",
    .run = run_backup};

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

static const cli_command restore_action = {
    .name = "restore",
    .summary = "make a store of a backup",
    .help = restore_help,
    .example = "  shoal serve --config serve.json --check\n"
               "  shoal store backup --store store -o store.backup\n"
               "  shoal store restore --store restored store.backup\n",
    .options = options,
    .arguments_size = sizeof(arguments),
    .least_words = 1,
    .most_words = 1,
    .words_refused = "one file of a backup is needed",
    .run = run_restore};

static const command_option import_options[] = {
    REQUIRED_OPTION("store", store), REQUIRED_OPTION("recipe", recipe),
    REQUIRED_OPTION("period", period), OPTION("audit-log", audit_log), LAST_OPTION};

static const cli_command import_action = {
    .name = "import",
    .summary = "enter the result of several machines as a block",
    .help = import_help,
    .example = "  shoal manifest make --recipe fish.json -o day1.man fish.batches\n"
               "  shoal ingest --recipe fish.json --manifest day1.man -o day1.acc fish.batches\n"
               "  shoal store import --store imported --recipe fish.json --period 2026-01-05 "
               "day1.acc\n",
    .options = import_options,
    .arguments_size = sizeof(arguments),
    .least_words = 1,
    .most_words = 1,
    .words_refused = "one accumulator is needed",
    .run = run_import};

static const cli_command *const actions[] = {&backup_action, &restore_action, &forget_action,
                                             &import_action, NULL};

const cli_command cmd_store = {.name = "store",
                               .summary =
                                   "the server's durable state: backup, restore, forget, import",
                               .help = help_text,
                               .example = "  shoal serve --config serve.json --check\n"
                                          "  shoal store backup --store store -o store.backup\n"
                                          "  shoal store forget --store store fish\n",
                               .actions = actions};
