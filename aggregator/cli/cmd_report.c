// SPDX-License-Identifier: Apache-2.0
// shoal report: a result as one page, to send to somebody.
#include <stdio.h>

#include "commands.h"
#include "memory_option.h"
#include "options.h"
#include "result_options.h"
#include "static_files.h"

static const char help_text[] =
    "Usage: shoal report --recipe R --dictionary FILE -o PAGE ACC...\n"
    "       shoal report --recipe R1 --recipe R2... --dictionary ID=FILE... -o PAGE ACC...\n"
    "\n"
    "Writes one self-contained HTML page: counts with intervals, alarms and guarantees of all\n"
    "accumulators of a recipe together, and how numbers are spread. Several accumulators are\n"
    "periods in the order of time: the page then has the largest values over them, and the first\n"
    "against the last. A recipe that finds strings has the words that nobody listed. Each of\n"
    "several recipes has a part of its own, the rounds of a trie one together. The page has no\n"
    "script and fetches nothing. Refuses (exit 3) an accumulator with fewer reports than the\n"
    "recipe's minimum cohort, and accumulators that count the same reports. Who gets the page\n"
    "can subtract its periods from one another.\n"
    "\n"
    "  --recipe FILE       the collection's recipe (JSON); once for each recipe\n"
    "  --dictionary FILE   the values to count, one a line; default: the recipe's own list.\n"
    "                      ID=FILE for one of several recipes; VARIABLE=FILE, or\n"
    "                      ID=VARIABLE=FILE, for a variable\n"
    "  --variable NAME     the variable to count alone; without it, a recipe with variables\n"
    "                      has a heat map of each pair. ID=NAME for one of several recipes\n"
    "  --title TEXT        default: the recipe's id\n"
    "  --top N             rows of the table, default 20; 0 for all\n"
    "  --confidence C      of the intervals, default 0.95\n"
    "  --multiple RULE     correction of the tests: bonferroni (default), bh or none\n"
    "  --block N           state that nobody is shown a part of fewer than N reports\n"
    "  --honest SHARE      share of the reports assumed honest, 0.01 to 1; the central\n"
    "                      guarantee needs both options\n"
    "  --incomplete        show the result though shards of a manifest are missing\n"
    "  -o, --output FILE   the page; default: standard output\n"
    "  --threads T         default: all cores\n"
    "  --memory SIZE       take at most this much memory, such as 256M or 2G; refuse if that is\n"
    "                      not enough. Without it, large amounts are logged\n";

#define TOP 20u

typedef struct arguments {
    command_values recipes, dictionaries, variables;
    const char *title, *memory;
    cli_result_texts texts;
    cli_result_options result;
    uint64_t memory_limit; // bytes; 0: no limit
    bool is_incomplete;
} arguments;

static agg_err read_arguments(arguments *a, agg_error *error)
{
    agg_err err = cli_read_memory(&a->memory_limit, error, a->memory);
    if (err == SHOAL_OK) err = cli_result_options_read(&a->result, error, &a->texts);
    if (a->texts.top == NULL) a->result.top = TOP;
    return err;
}

static agg_err print(FILE *stream, agg_error *error, const void *result, agg_format format)
{
    (void)format;
    return agg_static_set_write(stream, error, result);
}

static agg_err run(agg_error *error, void *context, const command_words *words)
{
    arguments *a = context;
    char command[] = "report";
    agg_static_files files;
    agg_err err = read_arguments(a, error);
    if (err != SHOAL_OK) return err;
    const agg_static_report like = {.title = a->title,
                                    .memory = a->memory_limit,
                                    .options = {.confidence = a->result.confidence,
                                                .multiple = a->result.multiple,
                                                .top = a->result.top,
                                                .n_threads = a->result.n_threads},
                                    .release = a->result.release};
    const agg_static_names names = {.recipes = a->recipes.texts,
                                    .n_recipes = a->recipes.n,
                                    .accumulators = words->texts,
                                    .n = (size_t)words->n,
                                    .dictionaries = a->dictionaries.texts,
                                    .n_dictionaries = a->dictionaries.n,
                                    .variables = a->variables.texts,
                                    .n_variables = a->variables.n,
                                    .wholeness = cli_wholeness(a->is_incomplete),
                                    .command = command};
    err = agg_static_files_open(&files, error, &names, &like);
    if (err != SHOAL_OK) return err;
    const agg_static_set set = {a->title, files.reports, files.n_reports};
    err = cli_state_memory(error, command, agg_static_files_memory(&files), a->memory_limit);
    if (err == SHOAL_OK) err = cli_result_write(error, a->texts.output, print, &set, AGG_TABLE);
    agg_static_files_release(&files);
    return err;
}

static const command_option options[] = {
    REQUIRED_OPTION("recipe", recipes), OPTION("dictionary", dictionaries),
    OPTION("variable", variables),      OPTION("title", title),
    OPTION("memory", memory),           OPTION("incomplete", is_incomplete),
    OPTION("top", texts.top),           OPTION("confidence", texts.confidence),
    OPTION("multiple", texts.multiple), OPTION("block", texts.block),
    OPTION("honest", texts.honest),     OUTPUT_OPTION(texts.output),
    OPTION("threads", texts.threads),   LAST_OPTION};

const cli_command cmd_report = {
    .name = "report",
    .summary = "one page with a result, to send to somebody",
    .help = help_text,
    .example = "  shoal report --recipe fish.json --dictionary fish.txt -o fish.html \\\n"
               "      monday.acc tuesday.acc\n",
    .options = options,
    .arguments_size = sizeof(arguments),
    .least_words = 1,
    .most_words = (int)AGG_STATIC_REPORT_MAX,
    .words_refused = "takes one to 400 accumulators, in the order of time",
    .run = run};
