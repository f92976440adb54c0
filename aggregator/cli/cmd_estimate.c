// SPDX-License-Identifier: Apache-2.0
// shoal estimate: counts of known values from an accumulator.
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "distribution_options.h"
#include "domain_dictionary.h"
#include "estimate.h"
#include "estimate_print.h"
#include "input_memory.h"
#include "log.h"
#include "memory_option.h"
#include "options.h"
#include "recipe.h"
#include "recipe_view.h"
#include "result_options.h"

static const char help_text[] =
    "Usage: shoal estimate --recipe R --dictionary FILE ACC\n"
    "\n"
    "Prints alarms (docs/alarms.md), then counts with standard errors and intervals, largest\n"
    "first. Refuses (exit 3) an accumulator with fewer reports than the recipe's minimum\n"
    "cohort. Files are the operator's own: nothing keeps two of them from being subtracted, as\n"
    "shoal serve keeps its answers.\n"
    "\n"
    "  --recipe FILE       the collection's recipe (JSON)\n"
    "  --dictionary FILE   the values to count, one a line; default: the recipe's own list\n"
    "  --variable NAME     the variable to count, if the recipe has several\n"
    "  --by FIELD          count the buckets of one field of the encoding, summed over the others\n"
    "  --post NAME         post-processing: none (default), clip, norm-sub or base-cut; printed\n"
    "                      with the result\n"
    "  --total N           make the counts add up to N, known from elsewhere; alone or with\n"
    "                      norm-sub, whose default is the number of reports\n"
    "  --quantiles LIST    of a number: 0.5,0.9 and the like, with intervals and a histogram;\n"
    "                      a square-wave recipe gets quartiles, 0.9 and 0.99 without asking\n"
    "  --bins N            of that histogram, default 16\n"
    "  --rows NAME         of csv, ndjson and arrow: counts (default), quantiles, histogram\n"
    "                      or ecdf\n"
    "  --top N             print the N largest only\n"
    "  --split ACC2        other reports of the recipe pick the rows and their order: then the\n"
    "                      figures hold as they are, whichever rows are picked\n"
    "  --confidence C      of the intervals, default 0.95\n"
    "  --multiple RULE     correction behind `detected`: bonferroni (default; over the whole\n"
    "                      dictionary), bh or none\n"
    "  --block N           state that nobody is shown a part of fewer than N reports\n"
    "  --honest SHARE      share of the reports assumed honest, 0.01 to 1; the central\n"
    "                      guarantee needs both options\n"
    "  --incomplete        show the result though shards of a manifest are missing; it says so\n"
    "  --fail-on-alarm     exit with code 6, after the result, if an alarm is raised\n"
    "  --format FORMAT     table (default), json, ndjson, csv or arrow\n"
    "  -o, --output FILE   default: standard output\n"
    "  --threads T         default: all cores\n"
    "  --memory SIZE       take at most this much memory, such as 256M or 2G; refuse if that is\n"
    "                      not enough. Without it, large amounts are logged\n";

typedef struct arguments {
    const char *recipe, *dictionary, *variable, *by, *post, *total, *memory, *split, *accumulator;
    cli_result_texts texts;
    cli_result_options result;
    cli_distribution_texts spread_texts;
    agg_distribution_options spread;
    agg_post rule;
    uint64_t memory_limit; // bytes; 0: no limit
    bool fails_on_alarm, is_incomplete;
} arguments;

static agg_err read_post(agg_post *post, agg_error *error, const char *name, const char *total_text)
{
    static const char *const names[] = {"none", "clip", "norm-sub", "base-cut", NULL};
    static const agg_post_rule rules[] = {AGG_POST_NONE, AGG_POST_CLIP, AGG_POST_NORM_SUB,
                                          AGG_POST_BASE_CUT};
    size_t rule = 0;
    uint64_t total = 0;
    agg_err err =
        command_read_name(&rule, error, names, name, "--post is none, clip, norm-sub or base-cut");
    if (err == SHOAL_OK && total_text != NULL)
        err = cli_read_whole(&total, error, "total", total_text, 1, (uint64_t)1 << 53);
    if (err != SHOAL_OK) return err;
    *post = (agg_post){rules[rule], (double)total};
    if (total == 0 || post->rule == AGG_POST_NORM_SUB) return SHOAL_OK;
    if (post->rule != AGG_POST_NONE)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "--total goes alone or with --post norm-sub: after %s the counts would not "
                        "add up to it",
                        name);
    post->rule = AGG_POST_TOTAL;
    return SHOAL_OK;
}

static agg_err read_arguments(arguments *a, agg_error *error)
{
    if (a->split != NULL && strcmp(a->split, a->accumulator) == 0)
        return command_refuse(error, "--split takes other reports than those that are counted");
    if (a->by != NULL && a->dictionary != NULL)
        return command_refuse(error, "--by and --dictionary exclude each other");
    agg_err err = read_post(&a->rule, error, a->post, a->total);
    if (err == SHOAL_OK) err = cli_read_memory(&a->memory_limit, error, a->memory);
    if (err == SHOAL_OK) err = cli_result_options_read(&a->result, error, &a->texts);
    if (err == SHOAL_OK)
        err = cli_distribution_read(&a->spread, error, &a->spread_texts, a->result.format);
    a->spread.confidence = a->result.confidence;
    a->spread.n_threads = a->result.n_threads;
    return err;
}

static agg_err print(FILE *stream, agg_error *error, const void *result, agg_format format)
{
    return agg_estimate_print(stream, error, result, format);
}

// Logs the note on post-processing, which tables and JSON hold themselves.
static void say_post(const agg_post *post, agg_format format, char *command)
{
    char note[AGG_POST_NOTE_MAX], text[AGG_POST_NOTE_MAX + 16];
    if (post->rule == AGG_POST_NONE || format == AGG_TABLE || format == AGG_JSON) return;
    agg_post_note(note, post);
    snprintf(text, sizeof text, "%s: %s", agg_post_name(post->rule), note);
    agg_log_line(command, text);
}

static agg_err show(agg_error *error, const arguments *a, agg_estimate *estimate)
{
    char command[] = "estimate", text[160];
    agg_guarantee guarantee;
    agg_err err = agg_guarantee_run(&guarantee, error, estimate->recipe->recipe, estimate->n,
                                    &a->result.release);
    if (err != SHOAL_OK) return err;
    estimate->guarantee = &guarantee;
    err = cli_result_write(error, a->texts.output, print, estimate, a->result.format);
    say_post(&estimate->post, a->result.format, command);
    cli_say_incomplete(command, estimate->shards, a->result.format);
    if (estimate->n_withheld > 0) {
        snprintf(text, sizeof text,
                 "%zu of %zu values are below the release threshold and were withheld",
                 estimate->n_withheld, estimate->n_dictionary);
        agg_log_line(command, text);
    }
    cli_say_alarms(command, &estimate->alarms, a->result.format);
    cli_say_guarantee(command, &guarantee, NULL, a->result.format);
    estimate->guarantee = NULL;
    return err == SHOAL_OK && a->fails_on_alarm ? cli_fail_on_alarm(error, &estimate->alarms) : err;
}

static agg_err make_dictionary(agg_dictionary *dictionary, agg_error *error, const arguments *a,
                               const agg_recipe *recipe, uint32_t by)
{
    char command[] = "estimate";
    if (by > 0) return agg_dictionary_of_field(dictionary, error, recipe, by - 1);
    if (a->dictionary == NULL) return agg_dictionary_of_recipe(dictionary, error, recipe);
    return agg_dictionary_load(dictionary, error, recipe, a->dictionary, agg_log_line, command);
}

// The question, known before the accumulator is read, which takes most of the memory.
typedef struct question {
    const agg_recipe *recipe; // the recipe of the accumulator
    const agg_recipe *view;   // the recipe that is counted: the same, or one of its variables
    agg_dictionary dictionary;
    agg_estimate_options options;
} question;

static agg_err state_memory(agg_error *error, const arguments *a, const question *q)
{
    char command[] = "estimate";
    uint64_t bytes = cli_accumulator_memory(a->accumulator, q->recipe->recipe) +
                     cli_dictionary_memory(&q->dictionary) +
                     agg_estimate_memory(q->view, q->dictionary.n, &q->options) +
                     (a->split != NULL ? q->dictionary.n * sizeof(agg_estimate_row) : 0);
    return cli_state_memory(error, command, bytes, a->memory_limit);
}

static agg_err answer(agg_error *error, const arguments *a, const question *q,
                      const agg_accumulator *acc)
{
    agg_estimate estimate;
    agg_err err = agg_estimate_run(&estimate, error, q->view, acc, &q->dictionary, &q->options);
    if (err != SHOAL_OK) return err;
    agg_distribution spread = {0};
    if (cli_distribution_is_wanted(&a->spread_texts, q->view)) {
        err = agg_distribution_run(&spread, error, q->view, acc, &a->spread);
        estimate.distribution = &spread;
    }
    if (err == SHOAL_OK) err = show(error, a, &estimate);
    agg_distribution_release(&spread);
    agg_estimate_release(&estimate);
    return err;
}

// Estimates by the other reports, which pick the rows of the answer.
static agg_err pick(agg_estimate *picks, agg_error *error, const arguments *a, question *q)
{
    agg_accumulator acc;
    agg_err err = agg_accumulator_load_result(&acc, error, a->split, q->recipe->recipe,
                                              cli_wholeness(a->is_incomplete));
    if (err != SHOAL_OK) return err;
    err = agg_estimate_run(picks, error, q->view, &acc, &q->dictionary, &q->options);
    agg_accumulator_release(&acc);
    if (err == SHOAL_OK) q->options.picks = picks;
    return err;
}

static agg_err estimate_view(agg_error *error, const arguments *a, const agg_recipe *recipe,
                             const agg_recipe *view)
{
    agg_accumulator acc;
    agg_estimate picks = {0};
    question q = {.recipe = recipe,
                  .view = view,
                  .options = {.confidence = a->result.confidence,
                              .multiple = a->result.multiple,
                              .top = a->result.top,
                              .n_threads = a->result.n_threads,
                              .post = a->rule}};
    agg_err err = agg_recipe_find_field(&q.options.by, error, view, a->by);
    if (err == SHOAL_OK) err = make_dictionary(&q.dictionary, error, a, view, q.options.by);
    if (err == SHOAL_OK) err = state_memory(error, a, &q);
    if (err == SHOAL_OK && a->split != NULL) err = pick(&picks, error, a, &q);
    if (err == SHOAL_OK)
        err = agg_accumulator_load_result(&acc, error, a->accumulator, recipe->recipe,
                                          cli_wholeness(a->is_incomplete));
    if (err == SHOAL_OK) {
        err = answer(error, a, &q, &acc);
        agg_accumulator_release(&acc);
    }
    agg_estimate_release(&picks);
    agg_dictionary_release(&q.dictionary);
    return err;
}

static agg_err estimate(agg_error *error, const arguments *a, const agg_recipe *recipe)
{
    const agg_recipe *view = NULL;
    agg_err err = agg_recipe_view_of(&view, error, recipe, a->variable);
    if (err != SHOAL_OK) return err;
    err = estimate_view(error, a, recipe, view);
    agg_recipe_view_release(view, recipe);
    return err;
}

static agg_err run(agg_error *error, void *context, const command_words *words)
{
    arguments *a = context;
    agg_recipe recipe;
    a->accumulator = words->texts[0];
    agg_err err = read_arguments(a, error);
    if (err == SHOAL_OK) err = agg_recipe_from_file(&recipe, error, a->recipe);
    if (err != SHOAL_OK) return err;
    err = estimate(error, a, &recipe);
    agg_recipe_release(&recipe);
    return err;
}

static const command_option options[] = {REQUIRED_OPTION("recipe", recipe),
                                         OPTION("dictionary", dictionary),
                                         OPTION("variable", variable),
                                         OPTION("by", by),
                                         OPTION("post", post),
                                         OPTION("total", total),
                                         OPTION("memory", memory),
                                         OPTION("split", split),
                                         DISTRIBUTION_OPTIONS(spread_texts),
                                         OPTION("incomplete", is_incomplete),
                                         OPTION("fail-on-alarm", fails_on_alarm),
                                         RESULT_OPTIONS(texts),
                                         LAST_OPTION};

const cli_command cmd_estimate = {
    .name = "estimate",
    .summary = "counts of known values, with standard errors",
    .help = help_text,
    .example = "  shoal estimate --recipe fish.json --dictionary fish.txt --top 10 fish.acc\n",
    .options = options,
    .arguments_size = sizeof(arguments),
    .least_words = 1,
    .most_words = 1,
    .words_refused = "takes one accumulator; shoal merge adds several",
    .run = run};
