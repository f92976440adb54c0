// SPDX-License-Identifier: Apache-2.0
// Options and output of the commands that print results; see result_options.h.
#include "result_options.h"

#include <string.h>

#include "agg_file.h"
#include "alarm_print.h"
#include "call_streams.h"
#include "guarantee_print.h"
#include "incomplete_print.h"
#include "log.h"
#include "options.h"

agg_err cli_result_options_read(cli_result_options *options, agg_error *error,
                                const cli_result_texts *texts)
{
    static const char *const formats[] = {"table", "json", "ndjson", "csv", "arrow", NULL};
    static const char *const rules[] = {"bonferroni", "bh", "none", NULL};
    size_t format = 0, rule = 0;
    uint64_t top = 0;
    *options = (cli_result_options){0};
    agg_err err = command_read_name(&format, error, formats, texts->format,
                                    "--format is table, json, ndjson, csv or arrow");
    if (err == SHOAL_OK)
        err = command_read_name(&rule, error, rules, texts->multiple,
                                "--multiple is bonferroni, bh or none");
    if (err == SHOAL_OK && texts->top != NULL)
        err = cli_read_whole(&top, error, "top", texts->top, 1, UINT32_MAX);
    if (err == SHOAL_OK && texts->confidence != NULL)
        err = cli_read_decimal(&options->confidence, error, "confidence", texts->confidence,
                               0.000001, 0.999999999999);
    if (err == SHOAL_OK && texts->block != NULL)
        err = cli_read_whole(&options->release.block, error, "block", texts->block, 1, UINT32_MAX);
    if (err == SHOAL_OK && texts->honest != NULL)
        err = cli_read_decimal(&options->release.honest, error, "honest", texts->honest,
                               AGG_HONEST_MIN, 1);
    if (err == SHOAL_OK) err = cli_read_threads(&options->n_threads, error, texts->threads);
    options->format = (agg_format)format;
    options->multiple = (agg_multiple)rule;
    options->top = (size_t)top;
    return err;
}

void cli_say_guarantee(char *command, const agg_guarantee *a, const agg_guarantee *b,
                       agg_format format)
{
    char line[AGG_GUARANTEE_LINE_MAX];
    if (format == AGG_TABLE || format == AGG_JSON) return;
    for (size_t i = 0;
         b == NULL ? agg_guarantee_line(line, a, i) : agg_guarantee_line_of_two(line, a, b, i); i++)
        agg_log_line(command, line);
}

agg_wholeness cli_wholeness(bool is_incomplete)
{
    return is_incomplete ? AGG_MAY_BE_INCOMPLETE : AGG_WHOLE_ONLY;
}

void cli_say_incomplete(char *command, agg_shards_about shards, agg_format format)
{
    char line[AGG_INCOMPLETE_LINE_MAX];
    if (shards.missing == 0 || format == AGG_TABLE || format == AGG_JSON) return;
    agg_log_line(command, agg_incomplete_line(line, shards));
}

void cli_say_alarms(char *command, const agg_alarms *alarms, agg_format format)
{
    char line[AGG_ALARM_LINE_MAX];
    if (format == AGG_TABLE || format == AGG_JSON) return;
    for (size_t i = 0; agg_alarm_line(line, alarms, i); i++) agg_log_line(command, line);
}

agg_err cli_fail_on_alarm(agg_error *error, const agg_alarms *alarms)
{
    char names[AGG_ALARM_LINE_MAX] = "";
    if (alarms->n_raised == 0) return SHOAL_OK;
    for (int c = 0; c < AGG_ALARM_CODES; c++) {
        size_t len = strlen(names);
        if (alarms->list[c].outcome == AGG_ALARM_RAISED)
            snprintf(names + len, sizeof names - len, "%s%s", len > 0 ? ", " : "",
                     agg_alarm_name((agg_alarm_code)c));
    }
    return agg_fail(error, AGG_ERR_ALARM, AGG_EXIT_ALARM, "alarm: %s", names);
}

agg_err cli_result_write(agg_error *error, const char *output, cli_result_print print,
                         const void *result, agg_format format)
{
    agg_file file;
    if (output == NULL || strcmp(output, "-") == 0) return print(agg_out(), error, result, format);
    agg_err err = agg_file_create(&file, error, output);
    if (err != SHOAL_OK) return err;
    err = print(file.stream, error, result, format);
    if (err == SHOAL_OK) return agg_file_commit(&file, error);
    agg_file_abandon(&file);
    return err;
}
