// SPDX-License-Identifier: Apache-2.0
// shoal policy: what a site promises about the queries its pages answer, in words; and its hash.
#include <stdio.h>

#include "call_streams.h"
#include "commands.h"
#include "log.h"
#include "policy_json.h"
#include "policy_print.h"

static const char help_text[] = "Usage: shoal policy check FILE...\n"
                                "       shoal policy hash FILE...\n"
                                "\n"
                                "A policy says which queries the pages of a site answer. shoal "
                                "recipe check --policy FILE says\n"
                                "whether a device would answer one query.\n";

static const char check_help[] =
    "Usage: shoal policy check FILE...\n"
    "\n"
    "Prints in words what a policy allows: the budgets of each analysis and field, what a person\n"
    "gives away at most, and how many queries fit.\n";

static const char hash_help[] =
    "Usage: shoal policy hash FILE...\n"
    "\n"
    "Prints the hash by which queries name the policy, 64 hex digits.\n";

static int show_file(const char *path, bool is_check)
{
    agg_error error = {SHOAL_OK, AGG_EXIT_RUNTIME, ""};
    agg_policy policy;
    if (agg_policy_from_file(&policy, &error, path) != SHOAL_OK)
        return agg_log_error("policy", &error);
    if (is_check)
        agg_policy_print(&policy);
    else
        agg_print("%s\n", policy.hash_hex);
    return AGG_EXIT_OK;
}

// Shows every file, also after one that fails; the exit code is that of the last one that failed.
static agg_err show_files(agg_error *error, const command_words *words, bool is_check)
{
    int worst = AGG_EXIT_OK;
    for (int i = 0; i < words->n; i++) {
        int code = show_file(words->texts[i], is_check);
        if (code != AGG_EXIT_OK) worst = code;
    }
    return worst == AGG_EXIT_OK ? SHOAL_OK : command_end(error, worst);
}

static agg_err run_check(agg_error *error, void *arguments, const command_words *words)
{
    (void)arguments;
    return show_files(error, words, true);
}

static agg_err run_hash(agg_error *error, void *arguments, const command_words *words)
{
    (void)arguments;
    return show_files(error, words, false);
}

static const cli_command check = {.name = "check",
                                  .summary = "print in words what a policy allows",
                                  .help = check_help,
                                  .example = "  shoal policy check policy.json\n",
                                  .least_words = 1,
                                  .most_words = COMMAND_WORDS_MAX,
                                  .words_refused = "no policy to check",
                                  .run = run_check};

static const cli_command hash = {.name = "hash",
                                 .summary = "print the hash by which queries name a policy",
                                 .help = hash_help,
                                 .example = "  shoal policy hash policy.json\n",
                                 .least_words = 1,
                                 .most_words = COMMAND_WORDS_MAX,
                                 .words_refused = "no policy to hash",
                                 .run = run_hash};

static const cli_command *const actions[] = {&check, &hash, NULL};

const cli_command cmd_policy = {.name = "policy",
                                .summary = "what a site promises about queries: check, hash",
                                .help = help_text,
                                .example = "  shoal policy check policy.json\n",
                                .actions = actions};
