// SPDX-License-Identifier: Apache-2.0
// shoal completion: the scripts by which bash, zsh and fish complete a command line. They are
// printed from the rows that read command lines, so they know what the commands take and nothing
// else.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"

static const char help_text[] =
    "Usage: shoal completion SHELL\n"
    "\n"
    "Prints the script by which a shell completes the command line of shoal: its commands, their\n"
    "actions, their options, and files. The Debian package installs all three.\n"
    "\n"
    "  SHELL   bash, zsh or fish\n"
    "\n"
    "For this session, bash:  source <(shoal completion bash)\n"
    "For every session, zsh:  shoal completion zsh > FOLDER/_shoal, a folder of $fpath\n"
    "                   fish: shoal completion fish > ~/.config/fish/completions/shoal.fish\n";

// A row, and the action that holds it; NULL for a command.
typedef struct place {
    const cli_command *command, *action;
} place;

typedef void (*visit_place)(place at);

static bool is_mode(const cli_command *row)
{
    return row->name[0] == '-';
}

static bool has_actions(const cli_command *row)
{
    return row->actions != NULL && !is_mode(row->actions[0]);
}

// ---- walking the rows ----

static void for_each_place(visit_place visit)
{
    for (const cli_command *const *row = command_rows(); *row != NULL; row++) {
        visit((place){.command = *row});
        for (size_t i = 0; has_actions(*row) && (*row)->actions[i] != NULL; i++)
            visit((place){.command = *row, .action = (*row)->actions[i]});
    }
}

// The rows whose options may follow a place: its own, and those of a command's modes.
static const cli_command *option_row(place at, size_t i)
{
    const cli_command *row = at.action != NULL ? at.action : at.command;
    if (i == 0) return row;
    return row->actions != NULL && !has_actions(row) ? row->actions[i - 1] : NULL;
}

typedef void (*visit_option)(place at, const command_option *option);

// Whether the place's modes, or a row before the i-th one, have the option.
static bool is_known(place at, size_t i, const command_option *option)
{
    for (size_t j = 0; option_row(at, j) != NULL; j++)
        if (is_mode(option_row(at, j)) && strcmp(option_row(at, j)->name + 2, option->name) == 0)
            return true;
    for (size_t before = 0; before < i; before++)
        for (const command_option *o = option_row(at, before)->options;
             o != NULL && o->name != NULL; o++)
            if (strcmp(o->name, option->name) == 0) return true;
    return false;
}

static void for_each_option(place at, visit_option visit)
{
    for (size_t i = 0; option_row(at, i) != NULL; i++) {
        const cli_command *row = option_row(at, i);
        command_option *made = row->make_options != NULL ? row->make_options() : NULL;
        if (is_mode(row))
            visit(at, &(command_option){.name = row->name + 2, .kind = COMMAND_SWITCH});
        for (const command_option *o = made != NULL ? made : row->options;
             o != NULL && o->name != NULL; o++)
            if (!is_known(at, i, o)) visit(at, o);
        free(made);
    }
    visit(at, &(command_option){.name = "help", .letter = 'h', .kind = COMMAND_SWITCH});
}

// Prints a text within single quotes, where a quote is `quote`.
static void print_quoted(const char *text, const char *quote)
{
    for (; *text != '\0'; text++)
        if (*text == '\'')
            fputs(quote, stdout);
        else
            putchar(*text);
}

static void print_names(const cli_command *const *rows)
{
    for (; *rows != NULL; rows++) printf("%s ", (*rows)->name);
}

// ---- bash ----

static void print_bash_option(place at, const command_option *option)
{
    (void)at;
    printf("--%s ", option->name);
    if (option->letter != 0) printf("-%c ", option->letter);
}

static void print_bash_value(place at, const command_option *option)
{
    if (option->kind != COMMAND_SWITCH) print_bash_option(at, option);
}

static void print_bash_place(place at)
{
    printf("    '%s%s%s')\n", at.command->name, at.action != NULL ? " " : "",
           at.action != NULL ? at.action->name : "");
    if (at.action == NULL && has_actions(at.command)) {
        fputs("        actions='", stdout);
        print_names(at.command->actions);
        fputs("--help'\n        ;;\n", stdout);
        return;
    }
    fputs("        options='", stdout);
    for_each_option(at, print_bash_option);
    fputs("'\n        values=' ", stdout);
    for_each_option(at, print_bash_value);
    fputs("'\n        ;;\n", stdout);
}

static void print_bash(void)
{
    fputs("# bash completion for shoal, printed by: shoal completion bash\n"
          "_shoal() {\n"
          "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
          "    local place=${COMP_WORDS[1]} actions= options= values=\n"
          "    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        COMPREPLY=($(compgen -W '",
          stdout);
    print_names(command_rows());
    fputs("help --help --version' -- \"$current\"))\n"
          "        return\n"
          "    fi\n"
          "    case $place in\n    ",
          stdout);
    const char *separator = "";
    for (const cli_command *const *row = command_rows(); *row != NULL; row++)
        if (has_actions(*row)) {
            printf("%s%s", separator, (*row)->name);
            separator = " | ";
        }
    fputs(") [ \"$COMP_CWORD\" -eq 2 ] || place=\"$place ${COMP_WORDS[2]}\" ;;\n"
          "    esac\n"
          "    case $place in\n"
          "    help) actions='",
          stdout);
    print_names(command_rows());
    fputs("' ;;\n", stdout);
    for_each_place(print_bash_place);
    fputs("    esac\n"
          "    if [ -n \"$actions\" ]; then\n"
          "        COMPREPLY=($(compgen -W \"$actions\" -- \"$current\"))\n"
          "    elif [[ $current == -* && $values != *\" $previous \"* ]]; then\n"
          "        COMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
          "    fi\n"
          "}\n"
          "complete -o default -F _shoal shoal\n",
          stdout);
}

// ---- zsh ----

static void print_zsh_rows(const cli_command *const *rows)
{
    for (; *rows != NULL; rows++) {
        printf(" '%s:", (*rows)->name);
        print_quoted((*rows)->summary, "'\\''");
        putchar('\'');
    }
}

static void print_zsh_place(place at)
{
    printf("    '%s%s%s')\n", at.command->name, at.action != NULL ? " " : "",
           at.action != NULL ? at.action->name : "");
    if (at.action == NULL && has_actions(at.command)) {
        fputs("        names=(", stdout);
        print_zsh_rows(at.command->actions);
        fputs(" '--help:tell more'); what=action ;;\n", stdout);
        return;
    }
    fputs("        options=(", stdout);
    for_each_option(at, print_bash_option);
    fputs("); values=(", stdout);
    for_each_option(at, print_bash_value);
    fputs(") ;;\n", stdout);
}

static void print_zsh(void)
{
    fputs("#compdef shoal\n"
          "# zsh completion for shoal, printed by: shoal completion zsh\n"
          "_shoal() {\n"
          "    local -a names options values\n"
          "    local place=$words[2] what=command\n"
          "    case $place in\n    ",
          stdout);
    const char *separator = "(";
    for (const cli_command *const *row = command_rows(); *row != NULL; row++)
        if (has_actions(*row)) {
            printf("%s%s", separator, (*row)->name);
            separator = "|";
        }
    fputs(") (( CURRENT == 3 )) || place=\"$place $words[3]\" ;;\n"
          "    esac\n"
          "    (( CURRENT == 2 )) && place=help\n"
          "    case $place in\n"
          "    help)\n"
          "        names=(",
          stdout);
    print_zsh_rows(command_rows());
    fputs(" 'help:tell more of a command' '--help:list the commands' '--version:print the "
          "version') ;;\n",
          stdout);
    for_each_place(print_zsh_place);
    fputs("    esac\n"
          "    if (( $#names )); then\n"
          "        _describe \"$what\" names\n"
          "    elif [[ $PREFIX == -* ]] && (( ! $values[(Ie)$words[CURRENT-1]] )); then\n"
          "        compadd -- $options\n"
          "    else\n"
          "        _files\n"
          "    fi\n"
          "}\n"
          "if [[ $funcstack[1] == _shoal ]]; then _shoal \"$@\"; else compdef _shoal shoal; fi\n",
          stdout);
}

// ---- fish ----

static void print_fish_row(const char *condition, const cli_command *row)
{
    printf("complete -c shoal -n '%s' -f -a %s -d '", condition, row->name);
    print_quoted(row->summary, "\\'");
    fputs("'\n", stdout);
}

static void print_fish_option(place at, const command_option *option)
{
    printf("complete -c shoal -n '__shoal_at %s%s%s' -l %s", at.command->name,
           at.action != NULL ? " " : "", at.action != NULL ? at.action->name : "", option->name);
    if (option->letter != 0) printf(" -s %c", option->letter);
    fputs(option->kind == COMMAND_SWITCH ? "\n" : " -r -F\n", stdout);
}

static void print_fish_place(place at)
{
    char condition[64];
    if (at.action != NULL || !has_actions(at.command)) {
        for_each_option(at, print_fish_option);
        return;
    }
    snprintf(condition, sizeof condition, "__shoal_alone %s", at.command->name);
    for (size_t i = 0; at.command->actions[i] != NULL; i++)
        print_fish_row(condition, at.command->actions[i]);
}

static void print_fish(void)
{
    fputs("# fish completion for shoal, printed by: shoal completion fish\n"
          "function __shoal_alone\n"
          "    set -l words (commandline -opc)\n"
          "    test \"$words[2..]\" = \"$argv\"\n"
          "end\n"
          "function __shoal_at\n"
          "    set -l words (commandline -opc)\n"
          "    test (count $words) -gt (count $argv); or return 1\n"
          "    test \"$words[2..\"(math (count $argv) + 1)\"]\" = \"$argv\"\n"
          "end\n"
          "complete -c shoal -n __shoal_alone -l help -s h\n"
          "complete -c shoal -n __shoal_alone -l version\n"
          "complete -c shoal -n __shoal_alone -f -a help -d 'tell more of a command'\n",
          stdout);
    for (const cli_command *const *row = command_rows(); *row != NULL; row++) {
        print_fish_row("__shoal_alone", *row);
        print_fish_row("__shoal_alone help", *row);
    }
    for_each_place(print_fish_place);
}

static agg_err run(agg_error *error, void *context, const command_words *words)
{
    static const char *const shells[] = {"bash", "zsh", "fish", NULL};
    static void (*const print[])(void) = {print_bash, print_zsh, print_fish};
    size_t shell = 0;
    (void)context;
    agg_err err = command_read_name(&shell, error, shells, words->texts[0],
                                    "the shells are bash, zsh and fish");
    if (err == SHOAL_OK) print[shell]();
    return err;
}

const cli_command cmd_completion = {.name = "completion",
                                    .summary = "print what completes command lines in a shell",
                                    .help = help_text,
                                    .example = "  shoal completion bash > shoal.bash\n",
                                    .least_words = 1,
                                    .most_words = 1,
                                    .words_refused = "one SHELL is needed: bash, zsh or fish",
                                    .run = run};
