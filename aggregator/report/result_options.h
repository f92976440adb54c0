// SPDX-License-Identifier: Apache-2.0
// What the commands that print results share: names on the command line, --top, --confidence,
// --multiple, --honest, --format,
// --output, and what is said of a result's guarantees.
#ifndef RESULT_OPTIONS_H
#define RESULT_OPTIONS_H

#include <stdio.h>

#include "agg_error.h"
#include "guarantee.h"
#include "multiple.h"
#include "options.h"
#include "print_text.h"

// As they stand on the command line; NULL where absent.
typedef struct cli_result_texts {
    const char *top, *confidence, *multiple, *honest, *format, *output, *threads;
} cli_result_texts;

// The entries of a cli_option list that fill `texts`.
#define CLI_RESULT_OPTIONS(texts)                                                                  \
    {"top", 0, &(texts)->top, NULL}, {"confidence", 0, &(texts)->confidence, NULL},                \
        {"multiple", 0, &(texts)->multiple, NULL}, {"honest", 0, &(texts)->honest, NULL},          \
        {"format", 0, &(texts)->format, NULL}, {"output", 'o', &(texts)->output, NULL},            \
    {                                                                                              \
        "threads", 0, &(texts)->threads, NULL                                                      \
    }

typedef struct cli_result_options {
    size_t top;            // 0: all
    double confidence;     // 0: the default
    agg_multiple multiple; // bonferroni by default
    double honest;         // share of the reports that the central guarantee counts; 1 by default
    agg_format format;     // table by default
    unsigned n_threads;
} cli_result_options;

// Returns: AGG_ERR_USAGE naming the option.
agg_err cli_result_options_read(cli_result_options *options, agg_error *error,
                                const cli_result_texts *texts) SHOAL_MUST_CHECK;

// The position of `text` in a list of names that ends with NULL; 0 where text is NULL.
//   refused: the sentence for any other text, AGG_ERR_USAGE
agg_err cli_read_name(size_t *position, agg_error *error, const char *const *names,
                      const char *text, const char *refused) SHOAL_MUST_CHECK;

// Says the guarantees of a result whose format has no room for them: rows alone.
//   b: of a comparison's other side; else NULL
void cli_say_guarantee(char *command, const agg_guarantee *a, const agg_guarantee *b,
                       agg_format format);

typedef agg_err (*cli_result_print)(FILE *stream, agg_error *error, const void *result,
                                    agg_format format);

// Prints to a file, which appears when it is complete, or, where `output` is NULL or "-", to
// standard output.
agg_err cli_result_write(agg_error *error, const char *output, cli_result_print print,
                         const void *result, agg_format format) SHOAL_MUST_CHECK;

#endif
