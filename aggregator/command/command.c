// SPDX-License-Identifier: Apache-2.0
// Dispatch of commands; see command.h.
#include "command.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "call_streams.h"
#include "external.h"
#include "log.h"
#include "nearest.h"
#include "options.h"
#include "print_text.h"

#define NAME_SIZE 64u // "recipe new" and the like

// ---- mistyped names ----

// Returns: the row whose name is nearest to the text, NULL if none is near.
static const cli_command *find_nearest(const cli_command *const *rows, const char *text)
{
    const cli_command *best = NULL;
    for (const char *name = NULL; *rows != NULL; rows++) {
        const char *const both[] = {name, (*rows)->name};
        const char *nearest = agg_nearest(both + (name == NULL), 1 + (name != NULL), text);
        if (nearest != (*rows)->name) continue;
        name = nearest;
        best = *rows;
    }
    return best;
}

const cli_command *command_find(const cli_command *const *rows, const char *name)
{
    for (; rows != NULL && *rows != NULL; rows++)
        if (strcmp((*rows)->name, name) == 0) return *rows;
    return NULL;
}

static bool is_mode(const cli_command *row)
{
    return row->name[0] == '-';
}

static bool has_actions(const cli_command *row)
{
    return row->actions != NULL && !is_mode(row->actions[0]);
}

static void list_names(char *out, size_t size, const cli_command *const *rows)
{
    size_t len = 0;
    out[0] = '\0';
    for (size_t i = 0; rows[i] != NULL && len < size; i++) {
        const char *separator = i == 0 ? "" : rows[i + 1] == NULL ? " and " : ", ";
        len += (size_t)snprintf(out + len, size - len, "%s%s", separator, rows[i]->name);
    }
}

// ---- help ----

static void print_rows(const cli_command *const *rows)
{
    for (; *rows != NULL; rows++) agg_print("  %-11s %s\n", (*rows)->name, (*rows)->summary);
}

static void print_help(const cli_command *row, const cli_command *parent)
{
    const cli_command *told = row->help != NULL ? row : parent;
    agg_print("%s%s", told->help, told->more_help != NULL ? told->more_help : "");
    if (told->print_rows != NULL) told->print_rows();
    if (has_actions(told)) {
        fputs("\nActions:\n", agg_out());
        print_rows(told->actions);
        agg_print("\nshoal help %s ACTION tells more of one.\n", told->name);
    }
    agg_print("\nExample:\n%s", told->example);
}

static void print_overview(FILE *stream, const cli_command *const *commands)
{
    fputs("Usage: shoal COMMAND [OPTION]... [FILE]...\n\n"
          "Learns what a crowd does without learning what anyone did.\n\nCommands:\n",
          stream);
    for (size_t i = 0; commands[i] != NULL; i++)
        fprintf(stream, "  %-11s %s\n", commands[i]->name, commands[i]->summary);
    external_list(stream);
    fputs("\nshoal help COMMAND, or shoal COMMAND --help, tells more of one; shoal --version "
          "prints the\n"
          "version. Exit codes: 0 ok, 1 runtime, 2 usage, 3 refused for privacy, 4 too many "
          "rejected\n"
          "reports, 5 input/output, 6 an alarm of estimate.\n",
          stream);
}

// ---- options ----

// A command line that was read.
typedef struct parsed {
    const command_option *known; // the options of the row
    command_option *made;        // the same, where the row makes them
    char *arguments;             // the command's own struct
    bool *flags;                 // one for each option
    cli_option *options;
    char **rest; // argv without the options that may be repeated
    int n_rest;
    const char **words;
    int n_words;
    bool is_help;
} parsed;

static size_t count_options(const command_option *options)
{
    size_t n = 0;
    while (options != NULL && options[n].name != NULL) n++;
    return n;
}

static void release(parsed *p)
{
    for (size_t i = 0; p->arguments != NULL && i < count_options(p->known); i++)
        if (p->known[i].kind == COMMAND_REPEATED)
            free(((command_values *)(void *)(p->arguments + p->known[i].at))->texts);
    free(p->made);
    free(p->arguments);
    free(p->flags);
    free(p->options);
    free(p->rest);
    free(p->words);
}

static agg_err take_repeated(parsed *p, agg_error *error, const command_option *option)
{
    command_values *values = (command_values *)(void *)(p->arguments + option->at);
    char **left = agg_alloc(error, (size_t)p->n_rest, sizeof *left);
    int n_left = 0;
    values->texts = agg_alloc(error, (size_t)p->n_rest, sizeof *values->texts);
    agg_err err = left == NULL || values->texts == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
    if (err == SHOAL_OK)
        err = cli_take_repeated(values->texts, &values->n, left, &n_left, error, option->name,
                                p->n_rest, p->rest);
    if (err == SHOAL_OK) {
        memcpy(p->rest, left, (size_t)n_left * sizeof *left);
        p->n_rest = n_left;
    }
    free(left);
    return err;
}

static void bind(parsed *p)
{
    size_t n = 0;
    for (size_t i = 0; i < count_options(p->known); i++) {
        const command_option *o = &p->known[i];
        if (o->kind == COMMAND_REPEATED) continue;
        cli_option *entry = &p->options[n++];
        *entry = (cli_option){.name = o->name, .letter = o->letter};
        if (o->kind == COMMAND_SWITCH)
            entry->flag = &p->flags[i];
        else
            entry->value = (const char **)(void *)(p->arguments + o->at);
    }
    p->options[n] = (cli_option){.name = NULL};
}

static agg_err allocate(parsed *p, agg_error *error, const cli_command *row, int argc)
{
    if (row->make_options != NULL && (p->made = row->make_options()) == NULL)
        return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "out of memory");
    p->known = p->made != NULL ? p->made : row->options;
    size_t n_options = count_options(p->known);
    p->arguments = agg_alloc(error, 1, row->arguments_size > 0 ? row->arguments_size : 1);
    p->flags = agg_alloc(error, n_options + 1, sizeof *p->flags);
    p->options = agg_alloc(error, n_options + 1, sizeof *p->options);
    p->rest = agg_alloc(error, (size_t)argc, sizeof *p->rest);
    p->words = agg_alloc(error, (size_t)argc, sizeof *p->words);
    return p->arguments == NULL || p->flags == NULL || p->options == NULL || p->rest == NULL ||
                   p->words == NULL
               ? AGG_ERR_MEMORY
               : SHOAL_OK;
}

static bool is_given(const parsed *p, const command_option *o)
{
    const char *member = p->arguments + o->at;
    return o->kind == COMMAND_REPEATED ? ((const command_values *)(const void *)member)->n > 0
                                       : *(const char *const *)(const void *)member != NULL;
}

static agg_err check(const parsed *p, agg_error *error, const cli_command *row)
{
    for (const command_option *o = p->known; o != NULL && o->name != NULL; o++)
        if (o->is_required && !is_given(p, o))
            return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "--%s is needed", o->name);
    if (p->n_words >= row->least_words && p->n_words <= row->most_words) return SHOAL_OK;
    return command_refuse(error,
                          row->words_refused != NULL ? row->words_refused : "takes options only");
}

//   argv: argv[0] is the command, or its action
static agg_err read_command_line(parsed *p, agg_error *error, const cli_command *row, int argc,
                                 char **argv)
{
    agg_err err = allocate(p, error, row, argc);
    if (err != SHOAL_OK) return err;
    memcpy(p->rest, argv, (size_t)argc * sizeof *argv);
    p->n_rest = argc;
    for (const command_option *o = p->known; o != NULL && o->name != NULL; o++)
        if (err == SHOAL_OK && o->kind == COMMAND_REPEATED) err = take_repeated(p, error, o);
    if (err != SHOAL_OK) return err;
    bind(p);
    err =
        cli_options_read(p->options, error, p->n_rest, p->rest, p->words, &p->n_words, &p->is_help);
    if (err != SHOAL_OK || p->is_help) return err;
    for (size_t i = 0; i < count_options(p->known); i++)
        if (p->known[i].kind == COMMAND_SWITCH)
            *(bool *)(void *)(p->arguments + p->known[i].at) = p->flags[i];
    return check(p, error, row);
}

// ---- running ----

static int fail(const char *name, const agg_error *error)
{
    return error->text[0] == '\0' ? error->exit_code : agg_log_error(name, error);
}

static int run_row(const cli_command *row, const cli_command *parent, const char *name, int argc,
                   char **argv)
{
    agg_error error = {.exit_code = AGG_EXIT_RUNTIME};
    parsed p = {0};
    agg_err err = read_command_line(&p, &error, row, argc, argv);
    if (err == SHOAL_OK && p.is_help)
        print_help(row, parent);
    else if (err == SHOAL_OK)
        err = row->run(&error, p.arguments, &(command_words){p.words, p.n_words});
    release(&p);
    return err == SHOAL_OK ? AGG_EXIT_OK : fail(name, &error);
}

static int refuse_action(const cli_command *row, const char *typed)
{
    agg_error error;
    char names[256];
    const cli_command *nearest = typed != NULL ? find_nearest(row->actions, typed) : NULL;
    list_names(names, sizeof names, row->actions);
    const char *verb = row->actions[1] == NULL ? "action is" : "actions are";
    if (typed == NULL)
        agg_fail(&error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "the %s %s", verb, names);
    else if (typed[0] == '-')
        agg_fail(&error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                 "unknown option %.64s before an action; the %s %s", typed, verb, names);
    else if (nearest == NULL)
        agg_fail(&error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "unknown action '%.64s'; the %s %s", typed,
                 verb, names);
    else
        agg_fail(&error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                 "unknown action '%.64s'; did you mean '%s'?", typed, nearest->name);
    return fail(row->name, &error);
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static int run_action(const cli_command *row, int argc, char **argv)
{
    char name[NAME_SIZE];
    if (argc < 2) return refuse_action(row, NULL);
    if (is_help(argv[1])) {
        print_help(row, NULL);
        return AGG_EXIT_OK;
    }
    const cli_command *action = command_find(row->actions, argv[1]);
    if (action == NULL) return refuse_action(row, argv[1]);
    snprintf(name, sizeof name, "%s %s", row->name, action->name);
    return run_row(action, row, name, argc - 1, argv + 1);
}

static const cli_command *find_mode(const cli_command *row, int argc, char **argv)
{
    const cli_command *mode = NULL;
    for (int i = 1; i < argc && mode == NULL && strcmp(argv[i], "--") != 0; i++)
        mode = command_find(row->actions, argv[i]);
    return mode;
}

int command_run(const cli_command *row, int argc, char **argv)
{
    if (has_actions(row)) return run_action(row, argc, argv);
    const cli_command *mode = find_mode(row, argc, argv);
    return mode != NULL ? run_row(mode, row, row->name, argc, argv)
                        : run_row(row, NULL, row->name, argc, argv);
}

static int refuse_command(const cli_command *const *commands, const char *typed)
{
    const cli_command *nearest = find_nearest(commands, typed);
    char text[NAME_SIZE + 64];
    if (nearest != NULL)
        snprintf(text, sizeof text, "unknown command '%.64s'; did you mean '%s'?", typed,
                 nearest->name);
    else
        snprintf(text, sizeof text, "unknown command '%.64s'", typed);
    fputs("shoal: ", stderr);
    agg_print_terminal_text(stderr, text, strlen(text));
    fputs("\nTry: shoal --help\n", stderr);
    return AGG_EXIT_USAGE;
}

// shoal help [COMMAND [ACTION]]
static int help(const cli_command *const *commands, int argc, char **argv)
{
    if (argc < 2) {
        print_overview(agg_out(), commands);
        return AGG_EXIT_OK;
    }
    if (external_is(argv[1]) && argc == 2)
        return external_run(argv[1], 2, (char *[]){argv[1], (char[]){"--help"}, NULL});
    const cli_command *row = command_find(commands, argv[1]);
    if (row == NULL) return refuse_command(commands, argv[1]);
    const cli_command *action = argc > 2 ? command_find(row->actions, argv[2]) : row;
    if (action == NULL && has_actions(row)) return refuse_action(row, argv[2]);
    if (action == NULL || argc > 3) {
        fputs("shoal: help takes a command and, where it has any, an action\n", stderr);
        return AGG_EXIT_USAGE;
    }
    print_help(action, row);
    return AGG_EXIT_OK;
}

// The rows that the program was started with, for commands that tell of all.
static const cli_command *const *all_rows;

const cli_command *const *command_rows(void)
{
    return all_rows;
}

int command_main(const cli_command *const *commands, int argc, char **argv)
{
    all_rows = commands;
    if (argc < 2) {
        print_overview(stderr, commands);
        return AGG_EXIT_USAGE;
    }
    if (is_help(argv[1])) {
        print_overview(agg_out(), commands);
        return AGG_EXIT_OK;
    }
    if (strcmp(argv[1], "help") == 0) return help(commands, argc - 1, argv + 1);
    if (strcmp(argv[1], "--version") == 0) {
        agg_print("%s\n", "shoal " SHOAL_VERSION);
        return AGG_EXIT_OK;
    }
    if (external_is(argv[1])) return external_run(argv[1], argc - 1, argv + 1);
    const cli_command *row = command_find(commands, argv[1]);
    return row != NULL ? command_run(row, argc - 1, argv + 1) : refuse_command(commands, argv[1]);
}

agg_err command_end(agg_error *error, int exit_code)
{
    *error = (agg_error){.code = AGG_ERR_USAGE, .exit_code = exit_code};
    return error->code;
}

agg_err command_refuse(agg_error *error, const char *text)
{
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "%s", text);
}

agg_err command_read_name(size_t *position, agg_error *error, const char *const *names,
                          const char *text, const char *refused)
{
    size_t i = 0;
    while (text != NULL && names[i] != NULL && strcmp(names[i], text) != 0) i++;
    if (names[i] == NULL) return command_refuse(error, refused);
    *position = i;
    return SHOAL_OK;
}
