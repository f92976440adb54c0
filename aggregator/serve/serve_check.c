// SPDX-License-Identifier: Apache-2.0
// Checking a configuration; see serve_check.h.
#define _XOPEN_SOURCE_EXTENDED 1
#include "serve_check.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agg_size.h"
#include "dictionary.h"
#include "domain_dictionary.h"
#include "http_secret.h"
#include "log.h"
#include "recipe.h"
#include "serve_access.h"
#include "serve_config.h"
#include "serve_run.h"

#define SOON_DAYS 14 // before its last day a recipe is mentioned

static const char mend_config[] =
    "correct the file; shoal serve --help and docs/operate.md list the fields";
static const char mend_secret[] = "make one with: head -c 24 /dev/urandom | base64 > FILE && chmod "
                                  "600 FILE, and give the edge the "
                                  "same";
static const char mend_access[] =
    "give each reader and administrator a token of their own, at least 16 characters, in a file of "
    "mode 600";
static const char mend_recipe[] = "shoal recipe check FILE says more; shoal recipe new makes one";
static const char mend_dictionary[] = "correct the line, or the path in \"dictionaries\"";
static const char mend_store[] = "docs/operate.md, \"Damage\", says how to restore a backup";
static const char mend_folder[] =
    "make the folder, or give it to the user that runs shoal serve (chown), with mode 700";

void serve_check_mode(agg_check_report *report, const char *path)
{
    struct stat status;
    if (path != NULL && stat(path, &status) == 0 && (status.st_mode & 077) != 0)
        agg_check_note(report, "chmod 600 the file", "%s: others than its owner may read it", path);
}

// ---- the store ----

// Returns: whether a server holds the store, by its lock. Nothing is made.
static bool is_held(const char *folder)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/lock", folder) >= (int)sizeof path) return false;
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return false;
    bool held = flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(file);
    return held;
}

// Returns: the state of a store that is not there: its nearest folder must take it.
static serve_store_state check_parent(agg_check_report *report, const char *folder)
{
    char parent[4096];
    if (snprintf(parent, sizeof parent, "%s", folder) >= (int)sizeof parent)
        return SERVE_STORE_WRONG;
    char *slash = strrchr(parent, '/');
    if (slash == NULL)
        strcpy(parent, ".");
    else
        slash[slash == parent] = '\0';
    if (access(parent, W_OK | X_OK) == 0) {
        agg_check_right(report, "the store %s will be made", folder);
        return SERVE_STORE_MISSING;
    }
    agg_check_problem(report, mend_folder, "store: %s cannot be made in %s: %s", folder, parent,
                      strerror(errno));
    return SERVE_STORE_WRONG;
}

// Checks the folder of the audit log, where the configuration names one: it is made in a folder
// that must be there.
static void check_audit_log(agg_check_report *report, const char *folder)
{
    char parent[4096];
    if (folder == NULL || access(folder, W_OK | X_OK) == 0) return;
    if (errno == ENOENT && snprintf(parent, sizeof parent, "%s", folder) < (int)sizeof parent) {
        char *slash = strrchr(parent, '/');
        if (slash == NULL) return;
        slash[slash == parent] = '\0';
        if (access(parent, W_OK | X_OK) == 0) return;
    }
    agg_check_problem(report, mend_folder, "audit log: cannot make or write %s: %s", folder,
                      strerror(errno));
}

serve_store_state serve_check_store_folder(agg_check_report *report, const char *folder)
{
    struct stat status;
    if (stat(folder, &status) != 0) {
        if (errno == ENOENT) return check_parent(report, folder);
        agg_check_problem(report, mend_folder, "store: %s: %s", folder, strerror(errno));
        return SERVE_STORE_WRONG;
    }
    if (!S_ISDIR(status.st_mode)) {
        agg_check_problem(report, mend_folder, "store: %s is not a folder", folder);
        return SERVE_STORE_WRONG;
    }
    if (access(folder, R_OK | W_OK | X_OK) != 0) {
        agg_check_problem(report, mend_folder, "store: %s cannot be written: %s", folder,
                          strerror(errno));
        return SERVE_STORE_WRONG;
    }
    if (!is_held(folder)) return SERVE_STORE_HERE;
    agg_check_right(report, "the store %s is in use by a running server, so it was not read",
                    folder);
    return SERVE_STORE_HELD;
}

agg_err serve_spare_make(char path[SERVE_SPARE_SIZE], agg_error *error)
{
    snprintf(path, SERVE_SPARE_SIZE, "/tmp/shoal-check-XXXXXX");
    if (mkdtemp(path) != NULL) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "/tmp: cannot make a folder for the check: %s",
                    strerror(errno));
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

void serve_spare_remove(const char *path)
{
    (void)nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

// ---- what the configuration names ----

static void check_secrets(agg_check_report *report, const serve_config *config)
{
    agg_http_secret secret;
    agg_error error;
    serve_access access;
    if (agg_http_secret_load(&secret, &error, config->batch_secret_file) != SHOAL_OK) {
        agg_check_problem(report, mend_secret, "batch_secret_file: %s", error.text);
        return;
    }
    serve_check_mode(report, config->batch_secret_file);
    serve_check_mode(report, config->read_token_file);
    serve_check_mode(report, config->admin_token_file);
    for (size_t i = 0; i < config->n_readers; i++)
        serve_check_mode(report, config->readers[i].token_file);
    if (serve_access_open(&access, &error, config, &secret) != SHOAL_OK) {
        agg_check_problem(report, mend_access, "%s", error.text);
        return;
    }
    agg_check_right(report, "%s",
                    access.is_local ? "the batch secret; whoever asks from this machine may read"
                                    : "the batch secret and the tokens");
    serve_access_release(&access);
}

static void check_dictionaries(agg_check_report *report, const serve_config *config,
                               const agg_recipe *recipe)
{
    static char name[] = "serve";
    for (size_t i = 0; i < config->n_dictionaries; i++) {
        const serve_dictionary_path *one = &config->dictionaries[i];
        agg_dictionary dictionary;
        uint32_t variable;
        agg_error error;
        if (strcmp(one->recipe, recipe->id) != 0) continue;
        if (serve_dictionary_load(&dictionary, &variable, &error, recipe, one, agg_log_line,
                                  name) != SHOAL_OK) {
            agg_check_problem(report, mend_dictionary, "%s", error.text);
            continue;
        }
        agg_check_right(report, "dictionary %s of %s", one->name, recipe->id);
        agg_dictionary_release(&dictionary);
    }
}

static void check_recipe(agg_check_report *report, const serve_config *config,
                         const agg_recipe *recipe)
{
    int64_t days = (int64_t)recipe->recipe->expires_day - (int64_t)(time(NULL) / 86400);
    if (days < 0)
        agg_check_note(report, "draw up a new one: shoal recipe new, then pin its hash",
                       "recipe %s has expired: edges and devices take no more reports of it",
                       recipe->id);
    else if (days < SOON_DAYS)
        agg_check_note(report, "draw up its successor: shoal recipe new, then pin its hash",
                       "recipe %s expires in %lld days", recipe->id, (long long)days);
    agg_check_right(report, "recipe %s (%.16s...)", recipe->id, recipe->hash_hex);
    check_dictionaries(report, config, recipe);
}

// Checks each recipe, and that each dictionary has one.
//   are_read: set to whether all recipes could be read
static void check_recipes(agg_check_report *report, const serve_config *config, bool *are_read)
{
    bool *is_named = calloc(config->n_dictionaries + 1, sizeof *is_named);
    *are_read = is_named != NULL;
    for (size_t i = 0; i < config->n_recipes && is_named != NULL; i++) {
        agg_recipe recipe;
        agg_error error;
        if (agg_recipe_from_file(&recipe, &error, config->recipes[i]) != SHOAL_OK) {
            agg_check_problem(report, mend_recipe, "%s", error.text);
            *are_read = false;
            continue;
        }
        for (size_t d = 0; d < config->n_dictionaries; d++)
            is_named[d] |= strcmp(config->dictionaries[d].recipe, recipe.id) == 0;
        check_recipe(report, config, &recipe);
        agg_recipe_release(&recipe);
    }
    for (size_t d = 0; d < config->n_dictionaries && *are_read; d++)
        if (!is_named[d])
            agg_check_problem(report, "write the recipe's id as its file does",
                              "dictionaries: no recipe is called %s",
                              config->dictionaries[d].recipe);
    free(is_named);
}

void serve_check(agg_check_report *report, const char *path, uint64_t memory_limit, int *exit_code)
{
    serve_config config;
    agg_error error;
    char spare[SERVE_SPARE_SIZE];
    bool are_read = true;
    if (serve_config_load(&config, &error, path) != SHOAL_OK) {
        agg_check_problem(report, mend_config, "%s", error.text);
        return;
    }
    check_secrets(report, &config);
    check_recipes(report, &config, &are_read);
    serve_store_state state = serve_check_store_folder(report, config.store);
    check_audit_log(report, config.audit_log);
    bool is_spare = state == SERVE_STORE_MISSING || state == SERVE_STORE_HELD;
    serve_config_release(&config);
    if (state == SERVE_STORE_WRONG || report->n_problems > 0) return;
    agg_err err = is_spare ? serve_spare_make(spare, &error) : SHOAL_OK;
    bool is_made = is_spare && err == SHOAL_OK;
    if (err == SHOAL_OK) err = serve_run_check(&error, path, memory_limit, is_made ? spare : NULL);
    if (is_made) serve_spare_remove(spare);
    if (err == SHOAL_OK) {
        if (!is_spare) agg_check_right(report, "the store has no damage");
        return;
    }
    if (error.exit_code == AGG_EXIT_IO) *exit_code = AGG_EXIT_IO;
    agg_check_problem(report, mend_store, "%s", error.text);
}
