// SPDX-License-Identifier: Apache-2.0
// The `shoal` command: finds the subcommand and hands over.
#include <stdio.h>
#include <string.h>

#include "agg_error.h"
#include "commands.h"

typedef struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *what;
} command;

static const command commands[] = {
    {"demo", cmd_demo, "simulate, ingest and estimate in one process"},
    {"recipe", cmd_recipe, "write, check, diff, sign and verify recipes"},
    {"policy", cmd_policy, "what a site promises about queries: check, hash"},
    {"simulate", cmd_simulate, "draw devices from value<TAB>count lines and privatize them"},
    {"ingest", cmd_ingest, "fold batches or NDJSON reports into an accumulator"},
    {"merge", cmd_merge, "add accumulators of one recipe"},
    {"estimate", cmd_estimate, "counts of known values, with standard errors"},
    {"discover", cmd_discover, "strings that nobody listed, with counts and errors"},
    {"joint", cmd_joint, "how the variables of a recipe hang together"},
    {"track", cmd_track, "a statistic over the epochs of a run"},
    {"round", cmd_round, "the recipe of the next round, from what this one learnt"},
    {"plan", cmd_plan, "which mechanism, and what it will see"},
    {"audit", cmd_audit, "is a recipe's epsilon what it claims to be?"},
    {"account", cmd_account, "what the crowd adds: central epsilon"},
    {"compare", cmd_compare, "what changed between two collections or periods"},
#ifdef SHOAL_WITH_SERVE
    {"serve", cmd_serve, "HTTP: batches in, results out"},
#endif
#ifdef SHOAL_WITH_DAP
    {"upload", cmd_upload, "reports as sealed shares to two servers, as devices send them"},
    {"collect", cmd_collect, "a batch of two servers: an accumulator, or exact sums"},
    {"dap-key", cmd_dap_key, "a key pair for one of two servers, or for their collector"},
#endif
};
#define N_COMMANDS (sizeof commands / sizeof commands[0])

static void print_help(FILE *stream)
{
    fputs("Usage: shoal COMMAND [OPTION]... [FILE]...\n\n"
          "Learns what a crowd does without learning what anyone did.\n\nCommands:\n",
          stream);
    for (size_t i = 0; i < N_COMMANDS; i++)
        fprintf(stream, "  %-10s %s\n", commands[i].name, commands[i].what);
    fputs("\nEvery command has --help; shoal --version prints the version. Exit codes: 0 ok, 1 "
          "runtime,\n"
          "2 usage, 3 refused for privacy, 4 too many rejected reports, 5 input/output.\n",
          stream);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return AGG_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return AGG_EXIT_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("shoal " SHOAL_VERSION);
        return AGG_EXIT_OK;
    }
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(argv[1], commands[i].name) == 0) return commands[i].run(argc - 1, argv + 1);
    fprintf(stderr, "shoal: no command of that name\nTry: shoal --help\n");
    return AGG_EXIT_USAGE;
}
