// SPDX-License-Identifier: Apache-2.0
// shoal funnel: how far devices came along a few steps.
#include "commands.h"
#include "funnel.h"
#include "funnel_print.h"
#include "input_memory.h"
#include "joint_doubts.h"
#include "log.h"
#include "memory_option.h"
#include "options.h"
#include "result_options.h"

static const char help_text[] =
    "Usage: shoal funnel --recipe R [OPTION]... ACC\n"
    "\n"
    "Prints how many devices reached the first step, how many of these the second, and so on, "
    "with\n"
    "standard errors and intervals. The steps are the recipe's variables in their order, each a "
    "list\n"
    "with the value \"yes\". A device counts at a step if it reached all steps up to it. Refuses\n"
    "(exit 3) an accumulator with fewer reports than the recipe's minimum cohort.\n"
    "\n"
    "  --recipe FILE       the collection's recipe (JSON), which has variables\n"
    "  --confidence C      of the intervals, default 0.95\n"
    "  --block N           state that nobody is shown a part of fewer than N reports\n"
    "  --honest SHARE      share of the reports assumed honest, 0.01 to 1; the central\n"
    "                      guarantee needs both options\n"
    "  --incomplete        show the result though shards of a manifest are missing; it says so\n"
    "  --format FORMAT     table (default), json, ndjson, csv, arrow, or svg: a picture\n"
    "  -o, --output FILE   default: standard output\n"
    "  --threads T         default: all cores\n"
    "  --memory SIZE       take at most this much memory, such as 256M or 2G; refuse if that is\n"
    "                      not enough. Without it, large amounts are logged\n";

typedef struct arguments {
    const char *recipe, *format, *memory;
    cli_result_texts texts; // its format is not read: a funnel has more
    cli_result_options result;
    bool is_incomplete;
    uint64_t memory_limit; // bytes; 0: no limit
    size_t format_number;
} arguments;

typedef struct printing {
    const agg_joint_result *result;
    agg_funnel_format format;
} printing;

static agg_err print(FILE *stream, agg_error *error, const void *result, agg_format format)
{
    const printing *p = result;
    (void)format;
    return agg_funnel_print(stream, error, p->result, p->format);
}

static agg_err show(agg_error *error, const arguments *a, agg_joint_result *result)
{
    const printing p = {result, (agg_funnel_format)a->format_number};
    char command[] = "funnel";
    agg_guarantee guarantee;
    agg_err err =
        agg_guarantee_run(&guarantee, error, result->recipe->recipe, result->n, &a->result.release);
    if (err != SHOAL_OK) return err;
    result->guarantee = &guarantee;
    err = cli_result_write(error, a->texts.output, print, &p, AGG_TABLE);
    result->guarantee = NULL;
    if (err == SHOAL_OK) agg_joint_doubts(result, false, false, agg_log_line, command);
    if (err != SHOAL_OK || p.format < AGG_FUNNEL_NDJSON) return err;
    cli_say_incomplete(command, result->shards, AGG_CSV);
    cli_say_alarms(command, &result->alarms, AGG_CSV);
    cli_say_guarantee(command, &guarantee, NULL, AGG_CSV);
    return SHOAL_OK;
}

static agg_err read_arguments(arguments *a, agg_error *error)
{
    static const char *const formats[] = {"table", "json", "ndjson", "csv",
                                          "arrow", "svg",  NULL}; // as agg_funnel_format
    agg_err err = command_read_name(&a->format_number, error, formats, a->format,
                                    "--format is table, json, ndjson, csv, arrow or svg");
    if (err == SHOAL_OK) err = cli_result_options_read(&a->result, error, &a->texts);
    return err == SHOAL_OK ? cli_read_memory(&a->memory_limit, error, a->memory) : err;
}

static agg_err analyse(agg_error *error, const arguments *a, const agg_recipe *recipe,
                       const agg_accumulator *acc)
{
    agg_funnel funnel;
    char command[] = "funnel";
    agg_err err =
        agg_funnel_choose(&funnel, error, recipe, acc, a->result.confidence, a->result.n_threads);
    if (err != SHOAL_OK) return err;
    err = cli_state_memory(error, command,
                           agg_accumulator_memory(acc) + agg_funnel_memory(&funnel, recipe, acc),
                           a->memory_limit);
    if (err == SHOAL_OK)
        err =
            agg_funnel_run(&funnel, error, recipe, acc, a->result.confidence, a->result.n_threads);
    if (err == SHOAL_OK) err = show(error, a, &funnel.analysis->result);
    agg_funnel_release(&funnel);
    return err;
}

static agg_err run(agg_error *error, void *context, const command_words *words)
{
    arguments *a = context;
    char command[] = "funnel";
    agg_recipe recipe;
    agg_accumulator acc;
    agg_err err = read_arguments(a, error);
    if (err == SHOAL_OK) err = agg_recipe_from_file(&recipe, error, a->recipe);
    if (err != SHOAL_OK) return err;
    // What it takes in all is said once the accumulator is read.
    if (a->memory_limit > 0)
        err =
            cli_state_memory(error, command, cli_accumulator_memory(words->texts[0], recipe.recipe),
                             a->memory_limit);
    if (err == SHOAL_OK)
        err = agg_accumulator_load_result(&acc, error, words->texts[0], recipe.recipe,
                                          cli_wholeness(a->is_incomplete));
    if (err == SHOAL_OK) {
        err = analyse(error, a, &recipe, &acc);
        agg_accumulator_release(&acc);
    }
    agg_recipe_release(&recipe);
    return err;
}

static const command_option options[] = {REQUIRED_OPTION("recipe", recipe),
                                         OPTION("confidence", texts.confidence),
                                         OPTION("block", texts.block),
                                         OPTION("honest", texts.honest),
                                         OPTION("incomplete", is_incomplete),
                                         OPTION("format", format),
                                         OUTPUT_OPTION(texts.output),
                                         OPTION("threads", texts.threads),
                                         OPTION("memory", memory),
                                         LAST_OPTION};

const cli_command cmd_funnel = {.name = "funnel",
                                .summary = "how far devices came along a few steps",
                                .help = help_text,
                                .example = "  shoal funnel --recipe steps.json steps.acc\n",
                                .options = options,
                                .arguments_size = sizeof(arguments),
                                .least_words = 1,
                                .most_words = 1,
                                .words_refused = "takes one accumulator; shoal merge adds several",
                                .run = run};
