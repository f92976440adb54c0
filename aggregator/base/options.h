// SPDX-License-Identifier: Apache-2.0
// Command lines: long options with a value or without, -o, and arguments in between. Unknown
// options are refused.
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"

typedef struct cli_option {
    const char *name;   // without the dashes
    char letter;        // one-letter form, or 0
    const char **value; // where the value goes; NULL for a switch
    int *flag;          // where a switch is set; NULL for an option with a value
} cli_option;

// Reads argv[1..argc). Options end with an entry whose name is NULL; --help and -h are always
// known.
//   arguments: room for argc entries; what is no option goes there, *n_arguments of them
//   help: set when asked for
// Returns: AGG_ERR_USAGE for an unknown option, a missing value or an option given twice.
agg_err cli_options_read(const cli_option *options, agg_error *error, int argc, char **argv,
                         const char **arguments, int *n_arguments, int *help) SHOAL_MUST_CHECK;

// The same for a command that takes no arguments: AGG_ERR_USAGE where there is one, unless help was
// asked for.
agg_err cli_options_read_only(const cli_option *options, agg_error *error, int argc, char **argv,
                              int *help) SHOAL_MUST_CHECK;

// Takes every occurrence of an option that may come more than once off the words, before
// cli_options_read; after "--" no word is an option.
//   name: without the dashes; it has a value
//   values, rest: room for argc entries each; `rest` gets what is left, argv[0] with it
// Returns: AGG_ERR_USAGE for a missing value.
agg_err cli_take_repeated(const char **values, size_t *n_values, char **rest, int *n_rest,
                          agg_error *error, const char *name, int argc,
                          char **argv) SHOAL_MUST_CHECK;

// Whole numbers and decimals of option values; AGG_ERR_USAGE naming the option outside [low, high].
agg_err cli_read_whole(uint64_t *number, agg_error *error, const char *name, const char *text,
                       uint64_t low, uint64_t high) SHOAL_MUST_CHECK;
agg_err cli_read_decimal(double *number, agg_error *error, const char *name, const char *text,
                         double low, double high) SHOAL_MUST_CHECK;

// Number of threads of --threads: all cores where text is NULL.
agg_err cli_read_threads(unsigned *threads, agg_error *error, const char *text) SHOAL_MUST_CHECK;

// AGG_ERR_USAGE when a required option is missing.
agg_err cli_need(agg_error *error, const char *name, const char *value) SHOAL_MUST_CHECK;

#endif
