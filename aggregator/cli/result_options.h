// SPDX-License-Identifier: Apache-2.0
// What the commands that print results share: names on the command line, --top, --confidence,
// --multiple, --honest, --format,
// --output, and what is said of a result's guarantees.
#ifndef RESULT_OPTIONS_H
#define RESULT_OPTIONS_H

#include <stdio.h>

#include "agg_error.h"
#include "command.h"
#include "estimate_print.h"
#include "guarantee.h"

// As they stand on the command line; NULL where absent.
typedef struct cli_result_texts {
    const char *top, *confidence, *multiple, *honest, *format, *output, *threads;
} cli_result_texts;

// The entries of an option list that fill `texts`, a member of the file's struct `arguments`.
#define RESULT_OPTIONS(texts)                                                                      \
    OPTION("top", texts.top), OPTION("confidence", texts.confidence),                              \
        OPTION("multiple", texts.multiple), RESULT_WRITING_OPTIONS(texts)
// Those of a result that is tested against no list.
#define RESULT_WRITING_OPTIONS(texts)                                                              \
    OPTION("honest", texts.honest), OPTION("format", texts.format), OUTPUT_OPTION(texts.output),   \
        OPTION("threads", texts.threads)

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
