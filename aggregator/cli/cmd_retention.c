// SPDX-License-Identifier: Apache-2.0
// shoal retention: who came again, from the accumulators of several weeks.
#include "commands.h"
#include "input_memory.h"
#include "log.h"
#include "memory_option.h"
#include "options.h"
#include "result_options.h"
#include "retention_files.h"
#include "retention_print.h"

static const char help_text[] =
    "Usage: shoal retention --recipe R [OPTION]... WEEK1 WEEK2...\n"
    "\n"
    "Prints how many of the people who first came in a week came again one, two and more weeks\n"
    "later, with standard errors and intervals, from an accumulator for each week in their order.\n"
    "The recipe's list is \"0\", \"1\", \"2\" and so on, the weeks since a person's first visit; "
    "the\n"
    "last entry may have another name, such as \"12 or more\". Also prints each week's visitors, "
    "new\n"
    "and returning. A cohort that cannot be told from zero has no shares. Refuses (exit 3) a week\n"
    "with fewer reports than the minimum cohort.\n"
    "\n"
    "  WEEK                an accumulator, or - for a week that has none\n"
    "  --recipe FILE       the collection's recipe (JSON)\n"
    "  --weeks A,B,...     a label for each week; default: the names of the files\n"
    "  --confidence C      of the intervals, default 0.95\n"
    "  --block N           state that nobody is shown a part of fewer than N reports\n"
    "  --honest SHARE      share of the reports assumed honest, 0.01 to 1; the central\n"
    "                      guarantee needs both options\n"
    "  --incomplete        show the result though shards of a manifest are missing; it says so\n"
    "  --format FORMAT     table (default), json, ndjson, csv, arrow, or svg: a heat map\n"
    "  -o, --output FILE   default: standard output\n"
    "  --memory SIZE       take at most this much memory, such as 256M or 2G; refuse if that is\n"
    "                      not enough. Without it, large amounts are logged\n";

typedef struct arguments {
    const char *recipe, *weeks, *format, *memory;
    cli_result_texts texts; // its format is not read: retention has more
    cli_result_options result;
    bool is_incomplete;
    uint64_t memory_limit; // bytes; 0: no limit
    size_t format_number;
} arguments;

typedef struct printing {
    const agg_retention *retention;
    agg_retention_format format;
} printing;

static agg_err print(FILE *stream, agg_error *error, const void *result, agg_format format)
{
    const printing *p = result;
    (void)format;
    return agg_retention_print(stream, error, p->retention, p->format);
}

// Finds the guarantee of the week with the fewest reports.
static agg_err find_guarantee(agg_guarantee *guarantee, agg_error *error, const arguments *a,
                              const agg_retention *retention)
{
    uint64_t least = UINT64_MAX;
    for (size_t w = 0; w < retention->n_weeks; w++)
        if (!retention->weeks[w].is_missing && retention->weeks[w].n < least)
            least = retention->weeks[w].n;
    return agg_guarantee_run(guarantee, error, retention->recipe->recipe, least,
                             &a->result.release);
}

static agg_err show(agg_error *error, const arguments *a, agg_retention *retention)
{
    const printing p = {retention, (agg_retention_format)a->format_number};
    char command[] = "retention", note[AGG_RETENTION_NOTE_MAX];
    agg_guarantee guarantee;
    agg_err err = find_guarantee(&guarantee, error, a, retention);
    if (err != SHOAL_OK) return err;
    retention->guarantee = &guarantee;
    err = cli_result_write(error, a->texts.output, print, &p, AGG_TABLE);
    retention->guarantee = NULL;
    if (err == SHOAL_OK && p.format >= AGG_RETENTION_NDJSON)
        cli_say_guarantee(command, &guarantee, NULL, AGG_CSV);
    for (size_t i = 0; err == SHOAL_OK && p.format >= AGG_RETENTION_NDJSON &&
                       agg_retention_note(note, retention, i);
         i++)
        agg_log_line(command, note);
    return err;
}

static agg_err state_memory(agg_error *error, const arguments *a, const agg_retention_files *files)
{
    char command[] = "retention";
    uint64_t bytes = 0;
    for (size_t i = 0; i < files->n; i++)
        bytes += cli_accumulator_memory(files->paths[i], files->recipe.recipe);
    return cli_state_memory(error, command, bytes, a->memory_limit);
}

static agg_err read_arguments(arguments *a, agg_error *error)
{
    static const char *const formats[] = {"table", "json", "ndjson", "csv",
                                          "arrow", "svg",  NULL}; // as agg_retention_format
    agg_err err = command_read_name(&a->format_number, error, formats, a->format,
                                    "--format is table, json, ndjson, csv, arrow or svg");
    if (err == SHOAL_OK) err = cli_result_options_read(&a->result, error, &a->texts);
    return err == SHOAL_OK ? cli_read_memory(&a->memory_limit, error, a->memory) : err;
}

static agg_err run(agg_error *error, void *context, const command_words *words)
{
    arguments *a = context;
    agg_retention_files files = {0};
    agg_retention retention;
    agg_err err = read_arguments(a, error);
    if (err == SHOAL_OK)
        err = agg_retention_files_open(&files, error, a->recipe, words->texts, (size_t)words->n,
                                       a->weeks);
    if (err == SHOAL_OK) err = state_memory(error, a, &files);
    if (err == SHOAL_OK)
        err = agg_retention_files_load(&files, error, cli_wholeness(a->is_incomplete));
    if (err == SHOAL_OK)
        err = agg_retention_run(&retention, error, &files.recipe, files.weeks, files.n,
                                a->result.confidence, 1);
    if (err == SHOAL_OK) {
        err = show(error, a, &retention);
        agg_retention_release(&retention);
    }
    agg_retention_files_release(&files);
    return err;
}

static const command_option options[] = {REQUIRED_OPTION("recipe", recipe),
                                         OPTION("weeks", weeks),
                                         OPTION("confidence", texts.confidence),
                                         OPTION("block", texts.block),
                                         OPTION("honest", texts.honest),
                                         OPTION("incomplete", is_incomplete),
                                         OPTION("format", format),
                                         OUTPUT_OPTION(texts.output),
                                         OPTION("memory", memory),
                                         LAST_OPTION};

const cli_command cmd_retention = {
    .name = "retention",
    .summary = "who came again, week after week",
    .help = help_text,
    .example = "  shoal retention --recipe visits.json week1.acc week2.acc week3.acc\n",
    .options = options,
    .arguments_size = sizeof(arguments),
    .least_words = 2,
    .most_words = COMMAND_WORDS_MAX,
    .words_refused = "takes the accumulators of two weeks or more, in their order",
    .run = run};
