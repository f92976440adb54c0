// SPDX-License-Identifier: Apache-2.0
// The table of commands. A command is a row: its name, its help, its options and the function that
// runs it. A command with actions (`shoal recipe new`) has a table of rows of the same kind.
//
// command.c does what all commands share: it finds the row, reads the options into the row's own
// struct, answers --help, refuses unknown options and superfluous arguments, and prints errors. So
// a cmd_*.c file states its options and makes calls.
#ifndef COMMAND_H
#define COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "agg_error.h"

// The values of an option that may be given several times, in their order.
typedef struct command_values {
    const char **texts;
    size_t n;
} command_values;

// What an option writes into the arguments of its command. It follows from the member's type.
typedef enum command_option_kind {
    COMMAND_TEXT,    // const char *: the value as it was typed, NULL without the option
    COMMAND_SWITCH,  // bool: whether the option is given
    COMMAND_REPEATED // command_values: one text for each time that the option is given
} command_option_kind;

typedef struct command_option {
    const char *name; // without the dashes; NULL ends a list
    char letter;      // one-letter form, 0: none
    command_option_kind kind;
    size_t at;        // offset of the member in the command's arguments
    bool is_required; // the command is refused without it
} command_option;

// An entry of an option list, for a member of the struct `arguments` of the file that uses it.
#define OPTION(option, member)                                                                     \
    {                                                                                              \
        .name = (option), .kind = COMMAND_KIND(member), .at = offsetof(arguments, member)          \
    }
#define REQUIRED_OPTION(option, member)                                                            \
    {                                                                                              \
        .name = (option), .kind = COMMAND_KIND(member), .at = offsetof(arguments, member),         \
        .is_required = true                                                                        \
    }
// The output file of a command, --output and -o.
#define OUTPUT_OPTION(member)                                                                      \
    {                                                                                              \
        .name = "output", .letter = 'o', .at = offsetof(arguments, member)                         \
    }
#define REQUIRED_OUTPUT_OPTION(member)                                                             \
    {                                                                                              \
        .name = "output", .letter = 'o', .at = offsetof(arguments, member), .is_required = true    \
    }
#define LAST_OPTION                                                                                \
    {                                                                                              \
        .name = NULL                                                                               \
    }
#define COMMAND_KIND(member)                                                                       \
    _Generic(((arguments *)0)->member,                                                             \
             const char *: COMMAND_TEXT,                                                           \
             bool: COMMAND_SWITCH,                                                                 \
             command_values: COMMAND_REPEATED)

// The words of the command line that are neither options nor their values: files and the like.
typedef struct command_words {
    const char **texts;
    int n;
} command_words;

#define COMMAND_WORDS_MAX 1000000 // no limit

typedef struct cli_command cli_command;
struct cli_command {
    const char *name;         // as typed; that of a mode is a switch, such as "--discover"
    const char *summary;      // one line in the list of commands or of actions
    const char *help;         // usage, purpose and options; a mode without one has its command's
    const char *more_help;    // the rest of a help that is too long for one literal
    void (*print_rows)(void); // prints the help's list of what a table holds; NULL: none
    const char *example;      // lines of a shell that tests/aggregator/cli/help.test.mjs runs
    const command_option *options;
    // Makes the options of a row whose options a table names: a list in one piece of memory, which
    // the caller frees; NULL without memory. Absent where `options` has them.
    command_option *(*make_options)(void);
    size_t arguments_size;       // bytes of the struct that the options write to; 0: none
    int least_words, most_words; // how many words the command takes
    const char *words_refused;   // the message for any other number; NULL: "takes options only"

    // Does the work.
    //   arguments: the command's own struct, zeroed and then filled from the options
    //   words: valid until the function returns
    // Returns: an error, which command.c prints; command_end(...) for an exit code of its own.
    agg_err (*run)(agg_error *error, void *arguments, const command_words *words);

    // The rows of a command's actions or modes, ended by NULL; or NULL. An action is the first word
    // after the command; a mode is a switch that may stand anywhere.
    const cli_command *const *actions;
};

// Returns: the row of that name in a list that ends with NULL; NULL if there is none.
const cli_command *command_find(const cli_command *const *rows, const char *name);

// Runs a command.
//   argv: argc words, the first of which is the command's name, or any word in its place
// Returns: the exit code of the program. Errors were logged (log.h).
int command_run(const cli_command *row, int argc, char **argv);

// Finds the command of the list that argv[1] names and runs it. Knows `help`, --help and --version
// itself.
//   commands: a list that ends with NULL
// Returns: the exit code of the program.
int command_main(const cli_command *const *commands, int argc, char **argv);

// Returns: the list that command_main was called with.
const cli_command *const *command_rows(void);

// Ends a command with an exit code whose reason has been printed already.
// Returns: what the command's `run` returns.
agg_err command_end(agg_error *error, int exit_code);

// Refuses the command line. Returns: AGG_ERR_USAGE.
agg_err command_refuse(agg_error *error, const char *text);

// Finds a name in a list that ends with NULL, and writes its position; 0 if text is NULL.
//   refused: the message for a text that is not in the list
// Returns: AGG_ERR_USAGE for such a text.
agg_err command_read_name(size_t *position, agg_error *error, const char *const *names,
                          const char *text, const char *refused) SHOAL_MUST_CHECK;

#endif
