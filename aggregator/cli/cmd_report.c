// SPDX-License-Identifier: Apache-2.0
// shoal report: a result as one page, to send to somebody.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "commands.h"
#include "domain_dictionary.h"
#include "input_memory.h"
#include "log.h"
#include "memory_option.h"
#include "options.h"
#include "recipe.h"
#include "recipe_view.h"
#include "result_options.h"
#include "static_report.h"

static const char help_text[] =
    "Usage: shoal report --recipe R --dictionary FILE -o PAGE ACC...\n"
    "\n"
    "Writes one self-contained HTML page from accumulators of one recipe: counts with intervals,\n"
    "alarms and guarantees of all of them together. Several are periods in the order of time: the\n"
    "page then has the largest values over them, and the first against the last. The page has no\n"
    "script and fetches nothing. Refuses (exit 3) an accumulator with fewer reports than the\n"
    "recipe's minimum cohort, and accumulators that count the same reports. Who gets the page\n"
    "can subtract its periods from one another.\n"
    "\n"
    "  --recipe FILE       the collection's recipe (JSON)\n"
    "  --dictionary FILE   the values to count, one a line; default: the recipe's own list\n"
    "  --variable NAME     the variable to count, if the recipe has several\n"
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
#define NAME_MAX_BYTES 100u

typedef struct arguments {
    const char *recipe, *dictionary, *variable, *title, *memory;
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

// What the page is made of, for the function that loads an accumulator.
typedef struct inputs {
    const char *const *files;
    const shoal_recipe *recipe; // of the accumulators
    agg_wholeness wholeness;
} inputs;

static agg_err load(void *context, agg_accumulator *acc, agg_error *error, size_t i)
{
    const inputs *in = context;
    return agg_accumulator_load_result(acc, error, in->files[i], in->recipe, in->wholeness);
}

// Names a period by its file, without folder and ending.
static void name_period(char name[NAME_MAX_BYTES], const char *file)
{
    const char *slash = strrchr(file, '/'), *start = slash == NULL ? file : slash + 1;
    size_t len = strlen(start);
    if (len > 4 && strcmp(start + len - 4, ".acc") == 0) len -= 4;
    snprintf(name, NAME_MAX_BYTES, "%.*s", (int)(len < 90 ? len : 90), start);
}

static agg_err print(FILE *stream, agg_error *error, const void *result, agg_format format)
{
    (void)format;
    return agg_static_report_write(stream, error, result);
}

static agg_err state_memory(agg_error *error, const arguments *a, const agg_static_report *report,
                            const inputs *in)
{
    char command[] = "report";
    uint64_t bytes = 2 * cli_accumulator_memory(in->files[0], in->recipe) +
                     cli_dictionary_memory(report->dictionary) + agg_static_report_memory(report);
    return cli_state_memory(error, command, bytes, a->memory_limit);
}

static agg_err make_dictionary(agg_dictionary *dictionary, agg_error *error, const arguments *a,
                               const agg_recipe *view)
{
    char command[] = "report";
    if (a->dictionary == NULL) return agg_dictionary_of_recipe(dictionary, error, view);
    return agg_dictionary_load(dictionary, error, view, a->dictionary, agg_log_line, command);
}

static agg_err report_view(agg_error *error, const arguments *a, const agg_recipe *recipe,
                           const agg_recipe *view, const command_words *words)
{
    const size_t n = (size_t)words->n;
    agg_dictionary dictionary = {0};
    char(*names)[NAME_MAX_BYTES] = agg_alloc(error, n, sizeof *names);
    const char **list = agg_alloc(error, n, sizeof *list);
    inputs in = {words->texts, recipe->recipe, cli_wholeness(a->is_incomplete)};
    agg_static_report report = {.title = a->title != NULL ? a->title : recipe->id,
                                .recipe = view,
                                .dictionary = &dictionary,
                                .names = list,
                                .n = n,
                                .load = load,
                                .context = &in,
                                .options = {.confidence = a->result.confidence,
                                            .multiple = a->result.multiple,
                                            .top = a->result.top,
                                            .n_threads = a->result.n_threads},
                                .release = a->result.release};
    agg_err err = names == NULL || list == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
    for (size_t i = 0; err == SHOAL_OK && i < n; i++) {
        name_period(names[i], words->texts[i]);
        list[i] = names[i];
    }
    if (err == SHOAL_OK) err = make_dictionary(&dictionary, error, a, view);
    if (err == SHOAL_OK) err = state_memory(error, a, &report, &in);
    if (err == SHOAL_OK) err = cli_result_write(error, a->texts.output, print, &report, AGG_TABLE);
    agg_dictionary_release(&dictionary);
    free(names);
    free(list);
    return err;
}

static agg_err run(agg_error *error, void *context, const command_words *words)
{
    arguments *a = context;
    agg_recipe recipe;
    const agg_recipe *view = NULL;
    agg_err err = read_arguments(a, error);
    if (err == SHOAL_OK) err = agg_recipe_from_file(&recipe, error, a->recipe);
    if (err != SHOAL_OK) return err;
    err = agg_recipe_view_of(&view, error, &recipe, a->variable);
    if (err == SHOAL_OK) {
        err = report_view(error, a, &recipe, view, words);
        agg_recipe_view_release(view, &recipe);
    }
    agg_recipe_release(&recipe);
    return err;
}

static const command_option options[] = {
    REQUIRED_OPTION("recipe", recipe),  OPTION("dictionary", dictionary),
    OPTION("variable", variable),       OPTION("title", title),
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
