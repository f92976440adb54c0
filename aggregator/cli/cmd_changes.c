// SPDX-License-Identifier: Apache-2.0
// shoal changes: which values changed over several periods, when, and by how much.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "changes_print.h"
#include "commands.h"
#include "input_memory.h"
#include "log.h"
#include "memory_option.h"
#include "options.h"
#include "period_files.h"
#include "result_options.h"

static const char help_text[] =
    "Usage: shoal changes --recipe R [--dictionary FILE] ACC ACC... [OPTION]...\n"
    "\n"
    "Reads the accumulators of several periods, in the order of time, and prints which values "
    "rose\n"
    "or fell, when, and by how much. Every value is tested at every split of its series, with a\n"
    "false-discovery rate over all of them. The date is an interval; shares before and after have\n"
    "intervals of picked rows. Refuses (exit 3) a period below the recipe's minimum cohort, and "
    "two\n"
    "periods that hold the same reports.\n"
    "\n"
    "  --recipe FILE       the recipe (JSON); or once for each period, in their order: recipes of\n"
    "                      one mechanism with the same parameters\n"
    "  --dictionary FILE   the values to ask about, one a line; default: the recipe's own list\n"
    "  --label NAME        once for each period: its name, such as 2026-03 or 2026-03-14. Days,\n"
    "                      weeks and months must rise. Default: the file's name without .acc\n"
    "  --top N             print the N surest changes only\n"
    "  --confidence C      of the intervals and of the dates, default 0.95; the false-discovery\n"
    "                      rate is 1 - C\n"
    "  --multiple RULE     correction behind `detected`: bh (default; the false-discovery rate),\n"
    "                      bonferroni or none\n"
    "  --svg FILE          draw the surest changes too, at most 6\n"
    "  --block N           state that nobody is shown a part of fewer than N reports\n"
    "  --honest SHARE      share of the reports assumed honest, 0.01 to 1; the central\n"
    "                      guarantee needs both options\n"
    "  --incomplete        show the result though shards of a manifest are missing; it says so\n"
    "  --format FORMAT     table (default), json, ndjson, csv or arrow\n"
    "  -o, --output FILE   default: standard output\n"
    "  --threads T         default: all cores\n"
    "  --memory SIZE       take at most this much memory, such as 256M or 2G; refuse if that is\n"
    "                      not enough. Without it, large amounts are logged\n";

typedef struct arguments {
    command_values recipes, labels;
    const char *dictionary, *memory, *svg;
    cli_result_texts texts;
    cli_result_options result;
    uint64_t memory_limit; // bytes; 0: no limit
    bool is_incomplete;
} arguments;

static agg_err read_arguments(arguments *a, agg_error *error)
{
    agg_err err = cli_read_memory(&a->memory_limit, error, a->memory);
    if (err == SHOAL_OK) err = cli_result_options_read(&a->result, error, &a->texts);
    if (a->texts.multiple == NULL) a->result.multiple = AGG_BH;
    return err;
}

static agg_err print(FILE *stream, agg_error *error, const void *result, agg_format format)
{
    return agg_changes_print(stream, error, result, format);
}

static agg_err draw(FILE *stream, agg_error *error, const void *result, agg_format format)
{
    (void)format;
    return agg_changes_svg(stream, error, result);
}

static agg_err write_results(agg_error *error, const arguments *a, const agg_changes *changes)
{
    char command[] = "changes", text[120];
    agg_guarantee guarantee;
    const agg_changes_period *least = &changes->periods[0];
    for (size_t t = 1; t < changes->n_periods; t++)
        if (changes->periods[t].acc->n < least->acc->n) least = &changes->periods[t];
    agg_err err = agg_guarantee_run(&guarantee, error, least->recipe->recipe, least->acc->n,
                                    &a->result.release);
    const agg_changes_result result = {changes, &guarantee};
    if (err == SHOAL_OK)
        err = cli_result_write(error, a->texts.output, print, &result, a->result.format);
    if (err == SHOAL_OK && a->svg != NULL)
        err = cli_result_write(error, a->svg, draw, changes, a->result.format);
    if (err != SHOAL_OK) return err;
    cli_say_incomplete(command, changes->shards, a->result.format);
    cli_say_guarantee(command, &guarantee, NULL, a->result.format);
    snprintf(text, sizeof text, "%zu of %zu values are below the release threshold and withheld",
             changes->n_withheld, changes->n_dictionary);
    if (changes->n_withheld > 0) agg_log_line(command, text);
    return SHOAL_OK;
}

// Runs before the accumulators are read, since they take most of the memory.
static agg_err state_memory(agg_error *error, const arguments *a, const agg_period_files *files)
{
    char command[] = "changes";
    const agg_dictionary *dictionary = files->periods[0].dictionary;
    uint64_t bytes =
        agg_changes_memory(files->periods[0].recipe, dictionary->n, files->n, a->result.n_threads) +
        files->n_recipes * cli_dictionary_memory(dictionary);
    for (size_t t = 0; t < files->n; t++)
        bytes += cli_accumulator_memory(files->paths[t], files->periods[t].recipe->recipe);
    return cli_state_memory(error, command, bytes, a->memory_limit);
}

static agg_err run(agg_error *error, void *context, const command_words *words)
{
    arguments *a = context;
    char command[] = "changes";
    agg_period_files files;
    agg_changes changes;
    agg_err err = read_arguments(a, error);
    if (err != SHOAL_OK) return err;
    const agg_period_names names = {words->texts,  (size_t)words->n, a->recipes.texts,
                                    a->recipes.n,  a->labels.texts,  a->labels.n,
                                    a->dictionary, command};
    err = agg_period_files_open(&files, error, &names);
    if (err != SHOAL_OK) return err;
    err = state_memory(error, a, &files);
    if (err == SHOAL_OK)
        err = agg_period_files_load(&files, error, cli_wholeness(a->is_incomplete));
    if (err == SHOAL_OK) {
        const agg_changes_options options = {a->result.confidence, a->result.multiple,
                                             a->result.top, a->result.n_threads};
        err = agg_changes_run(&changes, error, files.periods, files.n, &options);
        if (err == SHOAL_OK) {
            err = write_results(error, a, &changes);
            agg_changes_release(&changes);
        }
    }
    agg_period_files_release(&files);
    return err;
}

static const command_option options[] = {REQUIRED_OPTION("recipe", recipes),
                                         OPTION("label", labels),
                                         OPTION("dictionary", dictionary),
                                         OPTION("svg", svg),
                                         OPTION("memory", memory),
                                         OPTION("incomplete", is_incomplete),
                                         RESULT_OPTIONS(texts),
                                         LAST_OPTION};

const cli_command cmd_changes = {.name = "changes",
                                 .summary =
                                     "which values rose or fell over several periods, and when",
                                 .help = help_text,
                                 .example = "  shoal changes --recipe fish.json --dictionary "
                                            "fish.txt monday.acc tuesday.acc wednesday.acc\n",
                                 .options = options,
                                 .arguments_size = sizeof(arguments),
                                 .least_words = 2,
                                 .most_words = COMMAND_WORDS_MAX,
                                 .words_refused = "takes two accumulators or more",
                                 .run = run};
