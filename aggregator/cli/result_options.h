// SPDX-License-Identifier: Apache-2.0
// The options that commands with results share (--top, --confidence, --multiple, --block,
// --honest, --format, --output, --threads), and how they write a result and log its guarantees.
#ifndef RESULT_OPTIONS_H
#define RESULT_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "accumulator.h"
#include "agg_error.h"
#include "alarms.h"
#include "command.h"
#include "estimate_print.h"
#include "guarantee.h"

// The values as they were typed; NULL for options that are absent.
typedef struct cli_result_texts {
    const char *top, *confidence, *multiple, *block, *honest, *format, *output, *threads;
} cli_result_texts;

// The entries of an option list that fill `texts`, a member of the file's struct `arguments`.
#define RESULT_OPTIONS(texts)                                                                      \
    OPTION("top", texts.top), OPTION("confidence", texts.confidence),                              \
        OPTION("multiple", texts.multiple), RESULT_WRITING_OPTIONS(texts)
// The same without the options of a test over a dictionary.
#define RESULT_WRITING_OPTIONS(texts)                                                              \
    OPTION("block", texts.block), OPTION("honest", texts.honest), OPTION("format", texts.format),  \
        OUTPUT_OPTION(texts.output), OPTION("threads", texts.threads)

typedef struct cli_result_options {
    size_t top;            // 0: all
    double confidence;     // 0: the default
    agg_multiple multiple; // bonferroni by default
    agg_release release;   // what --block and --honest state; zeros where they are absent
    agg_format format;     // table by default
    unsigned n_threads;
} cli_result_options;

// Reads the values. Returns: AGG_ERR_USAGE naming the option.
agg_err cli_result_options_read(cli_result_options *options, agg_error *error,
                                const cli_result_texts *texts) SHOAL_MUST_CHECK;

// Logs the guarantees of a result whose format holds rows only.
//   b: the guarantee of a comparison's other side; else NULL
void cli_say_guarantee(char *command, const agg_guarantee *a, const agg_guarantee *b,
                       agg_format format);

// Returns: what the option --incomplete, or its absence, asks for.
agg_wholeness cli_wholeness(bool is_incomplete);

// Logs how many shards are missing, if any, where the format holds rows only.
void cli_say_incomplete(char *command, agg_shards_about shards, agg_format format);

// Logs the alarms of a result whose format holds rows only.
void cli_say_alarms(char *command, const agg_alarms *alarms, agg_format format);

// Returns: AGG_ERR_ALARM, naming the codes, if an alarm was raised; else SHOAL_OK.
agg_err cli_fail_on_alarm(agg_error *error, const agg_alarms *alarms) SHOAL_MUST_CHECK;

typedef agg_err (*cli_result_print)(FILE *stream, agg_error *error, const void *result,
                                    agg_format format);

// Prints to a file, which appears when it is complete, or to standard output if `output` is NULL or
// "-".
agg_err cli_result_write(agg_error *error, const char *output, cli_result_print print,
                         const void *result, agg_format format) SHOAL_MUST_CHECK;

#endif
