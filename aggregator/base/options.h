// SPDX-License-Identifier: Apache-2.0
// Reads command lines: long options with or without a value, one-letter options such as -o, and
// arguments in between. Unknown options are refused.
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"

typedef struct cli_option {
    const char *name;   // without the dashes
    char letter;        // the one-letter form, or 0
    const char **value; // set to the option's value; NULL for a switch
    bool *flag;         // set by a switch; NULL for an option with a value
} cli_option;

// Reads argv[1..argc). --help and -h are always known.
//   options: ends with an entry whose name is NULL
//   arguments: room for argc entries; receives the *n_arguments words that are not options
//   help: whether --help or -h is among them
// Returns: AGG_ERR_USAGE for an unknown option, a missing value or an option given twice.
agg_err cli_options_read(const cli_option *options, agg_error *error, int argc, char **argv,
                         const char **arguments, int *n_arguments, bool *help) SHOAL_MUST_CHECK;

// Reads the command line of a command that takes no arguments.
// Returns: also AGG_ERR_USAGE if there is an argument, unless help was asked for.
agg_err cli_options_read_only(const cli_option *options, agg_error *error, int argc, char **argv,
                              bool *help) SHOAL_MUST_CHECK;

// Takes every occurrence of an option that may be repeated off the command line. Call it before
// cli_options_read. Words after "--" are not options.
//   name: without the dashes; the option has a value
//   values: room for argc entries
//   rest: room for argc entries; receives all other words, argv[0] among them
// Returns: AGG_ERR_USAGE for a missing value.
agg_err cli_take_repeated(const char **values, size_t *n_values, char **rest, int *n_rest,
                          agg_error *error, const char *name, int argc,
                          char **argv) SHOAL_MUST_CHECK;

// Reads the value of an option as a whole number or as a decimal. A whole number may have a
// fraction and an exponent, or end in k, M or G: 1500000, 1.5e6 and 1.5M are one.
//   name: of the option, for the error
// Returns: AGG_ERR_USAGE, naming the option, unless the number is in [low, high].
agg_err cli_read_whole(uint64_t *number, agg_error *error, const char *name, const char *text,
                       uint64_t low, uint64_t high) SHOAL_MUST_CHECK;
agg_err cli_read_decimal(double *number, agg_error *error, const char *name, const char *text,
                         double low, double high) SHOAL_MUST_CHECK;

// Reads the value of --threads.
//   text: NULL if the option is absent: one thread a core
agg_err cli_read_threads(unsigned *threads, agg_error *error, const char *text) SHOAL_MUST_CHECK;

// Returns: AGG_ERR_USAGE, naming the option, if a required option is missing.
//   value: NULL if the option is absent
agg_err cli_need(agg_error *error, const char *name, const char *value) SHOAL_MUST_CHECK;

#endif
