// SPDX-License-Identifier: Apache-2.0
// shoal track: a statistic over the epochs of a run.
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "dictionary.h"
#include "input_memory.h"
#include "log.h"
#include "memory_option.h"
#include "options.h"
#include "recipe.h"
#include "result_options.h"
#include "track_beside.h"
#include "track_folder.h"
#include "track_print.h"

static const char help_text[] =
    "Usage: shoal track FOLDER [OPTION]...\n"
    "       shoal track --recipe R1 ACC1 --recipe R2 ACC2... [OPTION]...\n"
    "\n"
    "Reads the epochs of a run of thresh or heavythresh in their order: a folder with\n"
    "0001.recipe.json and 0001.acc, 0002.recipe.json and so on, or each recipe with its\n"
    "accumulator. Prints the statistic with standard errors and intervals, the updates and how "
    "many\n"
    "are left, and which changes are seen how late. Refuses a missing epoch, records of another\n"
    "recipe, recipes of another run, and (exit 3) an epoch with fewer reports than the minimum\n"
    "cohort.\n"
    "\n"
    "  --recipe FILE       an epoch's recipe (JSON), once for each, in their order\n"
    "  --dictionary FILE   heavythresh: values to ask about, one a line\n"
    "  --top N             heavythresh: the N largest at the last update, and all that moved;\n"
    "                      default: all\n"
    "  --truth FILE        a simulation's counts (epoch<TAB>value<TAB>count): prints the errors\n"
    "  --confidence C      of the intervals, default 0.95\n"
    "  --all               print every epoch in the table, not only those with an event\n"
    "  --format FORMAT     table (default), json, csv, svg or arrow\n"
    "  -o, --output FILE   default: standard output\n"
    "  --memory SIZE       take at most this much memory, such as 256M or 2G; refuse if that is\n"
    "                      not enough. Without it, large amounts are logged\n";

typedef struct arguments {
    command_values recipes; // one for each accumulator, or none
    const command_words *files;
    const char *dictionary, *top, *truth, *confidence, *format, *output, *memory;
    bool has_all;
    uint64_t n_top, memory_limit; // 0: not given
    double confidence_;
    size_t format_number;
} arguments;

static agg_err check_epochs(const arguments *a, agg_error *error)
{
    size_t n = a->recipes.n;
    if (n == 0)
        return a->files->n == 1
                   ? SHOAL_OK
                   : command_refuse(
                         error, "name one folder, or --recipe and an accumulator for each epoch");
    if ((size_t)a->files->n == n) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                    "%zu recipe%s and %d accumulator%s: each recipe takes one", n,
                    n == 1 ? "" : "s", a->files->n, a->files->n == 1 ? "" : "s");
}

static agg_err read_arguments(arguments *a, agg_error *error)
{
    static const char *const formats[] = {"table", "json", "csv", "svg",
                                          "arrow", NULL}; // in the order of agg_track_format
    a->confidence_ = 0.95;
    agg_err err = cli_read_memory(&a->memory_limit, error, a->memory);
    if (err == SHOAL_OK && a->top != NULL)
        err = cli_read_whole(&a->n_top, error, "top", a->top, 1, UINT32_MAX);
    if (err == SHOAL_OK && a->confidence != NULL)
        err = cli_read_decimal(&a->confidence_, error, "confidence", a->confidence, 0.000001,
                               0.999999999999);
    if (err == SHOAL_OK)
        err = command_read_name(&a->format_number, error, formats, a->format,
                                "--format is table, json, csv, svg or arrow");
    return err == SHOAL_OK ? check_epochs(a, error) : err;
}

static agg_err add_epochs(agg_track *track, agg_error *error, const arguments *a)
{
    agg_err err =
        a->recipes.n == 0 ? agg_track_add_folder(track, error, a->files->texts[0]) : SHOAL_OK;
    for (size_t i = 0; i < a->recipes.n && err == SHOAL_OK; i++)
        err = agg_track_add_files(track, error, a->recipes.texts[i], a->files->texts[i]);
    return err == SHOAL_OK ? agg_track_finish(track, error) : err;
}

// ---- the result ----

typedef struct printing {
    const agg_track_result *result;
    agg_track_format format;
} printing;

static agg_err print(FILE *stream, agg_error *error, const void *result, agg_format format)
{
    const printing *p = result;
    (void)format;
    return agg_track_print(stream, error, p->result, p->format);
}

static agg_err show(agg_error *error, const arguments *a, agg_track_result *result)
{
    const printing p = {result, (agg_track_format)a->format_number};
    char command[] = "track", note[AGG_TRACK_NOTE_MAX];
    agg_err err = cli_result_write(error, a->output, print, &p, AGG_TABLE);
    for (uint32_t i = 0;
         err == SHOAL_OK && p.format >= AGG_TRACK_CSV && agg_track_note(note, result->track, i);
         i++)
        agg_log_line(command, note);
    if (err == SHOAL_OK && result->items == NULL && agg_track_is_heavy(&result->track->law))
        agg_log_line(
            command,
            "a run of heavythresh needs --dictionary, the values whose shares are asked for");
    return err;
}

// Runs once the epochs are read, whose accumulators are small. Shares of many values take more.
static agg_err state_memory(agg_error *error, const arguments *a, const agg_track *track,
                            const agg_dictionary *dictionary)
{
    char command[] = "track";
    uint64_t sums =
        agg_track_is_heavy(&track->law) ? track->recipe.recipe->projection * sizeof(int32_t) : 0;
    uint64_t bytes =
        track->n_rows * sizeof *track->rows + track->n_updates * (sizeof *track->updates + sums);
    if (dictionary != NULL)
        bytes += cli_dictionary_memory(dictionary) + agg_track_items_memory(track, dictionary->n);
    return cli_state_memory(error, command, bytes, a->memory_limit);
}

static agg_err show_items(agg_error *error, const arguments *a, agg_track_result *result)
{
    char command[] = "track";
    agg_dictionary dictionary;
    agg_track_items items;
    if (!agg_track_is_heavy(&result->track->law))
        return command_refuse(error, "--dictionary is for heavythresh: this run follows a mean");
    agg_err err = agg_dictionary_load(&dictionary, error, &result->track->recipe, a->dictionary,
                                      agg_log_line, command);
    if (err != SHOAL_OK) return err;
    err = state_memory(error, a, result->track, &dictionary);
    if (err == SHOAL_OK) err = agg_track_items_run(&items, error, result->track, &dictionary);
    if (err == SHOAL_OK) {
        result->items = &items;
        err = show(error, a, result);
        agg_track_items_release(&items);
    }
    agg_dictionary_release(&dictionary);
    return err;
}

static agg_err follow(agg_error *error, const arguments *a)
{
    agg_track track;
    agg_track_simulated simulated = {0};
    double *truth = NULL, *numbers = NULL;
    agg_track_init(&track, a->confidence_);
    agg_err err = add_epochs(&track, error, a);
    if (err == SHOAL_OK && a->truth != NULL)
        err = agg_track_load_truth(&truth, error, &track, a->truth);
    if (err == SHOAL_OK && a->recipes.n == 0)
        err = agg_track_load_simulated(&simulated, &numbers, error, &track, a->files->texts[0]);
    agg_track_result result = {.track = &track,
                               .truth = truth,
                               .simulated = simulated.n_epochs > 0 ? &simulated : NULL,
                               .top = (size_t)a->n_top,
                               .has_all_epochs = a->has_all};
    if (err == SHOAL_OK && a->dictionary == NULL) err = state_memory(error, a, &track, NULL);
    if (err == SHOAL_OK)
        err = a->dictionary != NULL ? show_items(error, a, &result) : show(error, a, &result);
    agg_track_release(&track);
    free(truth);
    free(numbers);
    return err;
}

static agg_err run(agg_error *error, void *context, const command_words *words)
{
    arguments *a = context;
    a->files = words;
    agg_err err = read_arguments(a, error);
    return err == SHOAL_OK ? follow(error, a) : err;
}

static const command_option options[] = {OPTION("recipe", recipes),
                                         OPTION("dictionary", dictionary),
                                         OPTION("top", top),
                                         OPTION("truth", truth),
                                         OPTION("confidence", confidence),
                                         OPTION("all", has_all),
                                         OPTION("format", format),
                                         OUTPUT_OPTION(output),
                                         OPTION("memory", memory),
                                         LAST_OPTION};

const cli_command cmd_track = {.name = "track",
                               .summary = "a statistic over the epochs of a run",
                               .help = help_text,
                               .example = "  shoal track run\n",
                               .options = options,
                               .arguments_size = sizeof(arguments),
                               .most_words = COMMAND_WORDS_MAX,
                               .run = run};
