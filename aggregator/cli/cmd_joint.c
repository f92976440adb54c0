// SPDX-License-Identifier: Apache-2.0
// shoal joint: the joint distribution of a recipe's variables, and whether they are associated.
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "commands.h"
#include "file_lock.h"
#include "input_memory.h"
#include "joint_analysis.h"
#include "joint_choice.h"
#include "joint_doubts.h"
#include "joint_print.h"
#include "log.h"
#include "memory_option.h"
#include "options.h"
#include "recipe.h"
#include "result_options.h"
#include "window_picks.h"

static const char help_text[] =
    "Usage: shoal joint --recipe R [--categories NAME=FILE]... ACC\n"
    "       shoal joint --recipe R --done [-o OUT] ACC\n"
    "\n"
    "Estimates how the variables of a recipe are associated: the share of each combination of "
    "their\n"
    "values with standard errors and intervals, the rates of one variable given the other, and a\n"
    "test of independence. Refuses (exit 3) an accumulator with fewer reports than the recipe's\n"
    "minimum cohort, and one whose records are gone.\n"
    "\n"
    "  --recipe FILE           the collection's recipe (JSON), which has variables\n"
    "  --variables A,B         these variables only; default: all of the recipe's\n"
    "  --categories NAME=FILE  values of a variable, one a line; default: the recipe's own list. "
    "If\n"
    "                          there are more than --top, the largest that are detected are used\n"
    "  --top N                 categories of a variable at most, besides \"Other\"; default 15, "
    "fewer\n"
    "                          for three variables or more, and all of a list of up to 64\n"
    "  --no-other              no category for the rest, as if every device had a named value\n"
    "  --none                  if all of a list are categories: one more for devices that have no\n"
    "                          value of it, which are otherwise counted among the others\n"
    "  --given NAME            the variable that rates are conditioned on, if there are two;\n"
    "                          default: the first\n"
    "  --wald FORM             linear (default), or em: the paper's form, which is conservative\n"
    "  --confidence C          of the intervals, default 0.95\n"
    "  --block N               state that nobody is shown a part of fewer than N reports\n"
    "  --honest SHARE          share of the reports assumed honest, 0.01 to 1; the central\n"
    "                          guarantee needs both options\n"
    "  --incomplete            show the result though shards of a manifest are missing; it says "
    "so\n"
    "  --format FORMAT         table (default), json, ndjson, csv, arrow, or svg: a heat map\n"
    "                          of two variables\n"
    "  -o, --output FILE       default: standard output; with --done the accumulator itself\n"
    "  --threads T             default: all cores\n"
    "  --memory SIZE           take at most this much memory, such as 256M or 2G; refuse if that "
    "is\n"
    "                          not enough. Without it, large amounts are logged\n"
    "  --done                  the analysis is done: write the accumulator without its records\n";

enum { FORMAT_SVG = AGG_ARROW + 1 };

typedef struct arguments {
    const char *recipe, *variables, *given, *wald, *memory, *accumulator;
    command_values categories; // NAME=FILE
    cli_result_texts texts;
    cli_result_options result;
    bool no_other, with_none, is_done, is_svg, is_em_wald, is_incomplete;
    uint64_t memory_limit; // bytes; 0: no limit
} arguments;

static agg_err check_done(const arguments *a, agg_error *error)
{
    const cli_result_texts *t = &a->texts;
    if (a->categories.n == 0 && a->variables == NULL && a->given == NULL && a->wald == NULL &&
        t->top == NULL && t->confidence == NULL && t->block == NULL && t->honest == NULL &&
        t->format == NULL && !a->no_other && !a->with_none && !a->is_incomplete)
        return SHOAL_OK;
    return command_refuse(error, "--done takes --recipe and --output only: it analyses nothing");
}

static agg_err read_results(arguments *a, agg_error *error)
{
    static const char *const forms[] = {"linear", "em", NULL};
    size_t form = 0;
    a->is_svg = a->texts.format != NULL && strcmp(a->texts.format, "svg") == 0;
    if (a->is_svg) a->texts.format = NULL;
    agg_err err = command_read_name(&form, error, forms, a->wald, "--wald is linear or em");
    if (err == SHOAL_OK) err = cli_read_memory(&a->memory_limit, error, a->memory);
    if (err == SHOAL_OK) err = cli_result_options_read(&a->result, error, &a->texts);
    a->is_em_wald = form == 1;
    return err;
}

// ---- variables and their categories ----

static agg_err no_variable(agg_error *error, const agg_recipe *recipe, const char *option)
{
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "%s: recipe %s has no such variable",
                    option, recipe->id);
}

static agg_err add_variable(agg_joint_wish *wishes, uint32_t *n, agg_error *error,
                            const agg_recipe *recipe, const char *name, size_t len)
{
    uint32_t i = agg_recipe_find_variable(recipe, name, len);
    if (i == recipe->recipe->n_variables) return no_variable(error, recipe, "--variables");
    for (uint32_t j = 0; j < *n; j++)
        if (wishes[j].variable == i)
            return command_refuse(error, "--variables names a variable twice");
    wishes[(*n)++].variable = i;
    return SHOAL_OK;
}

static agg_err read_variables(agg_joint_wish *wishes, uint32_t *n, agg_error *error,
                              const arguments *a, const agg_recipe *recipe)
{
    *n = 0;
    for (uint32_t i = 0; a->variables == NULL && i < recipe->recipe->n_variables; i++)
        wishes[(*n)++].variable = i;
    for (const char *at = a->variables; at != NULL;) {
        const char *comma = strchr(at, ',');
        agg_err err = add_variable(wishes, n, error, recipe, at,
                                   comma != NULL ? (size_t)(comma - at) : strlen(at));
        if (err != SHOAL_OK) return err;
        at = comma != NULL ? comma + 1 : NULL;
    }
    return *n < 2
               ? command_refuse(error, "--variables needs two names at least, separated by commas")
               : SHOAL_OK;
}

static agg_err read_categories(agg_joint_wish *wishes, uint32_t n, agg_error *error,
                               const arguments *a, const agg_recipe *recipe)
{
    for (size_t i = 0; i < a->categories.n; i++) {
        const char *equals = strchr(a->categories.texts[i], '=');
        if (equals == NULL || equals[1] == '\0')
            return command_refuse(error, "--categories must be NAME=FILE");
        uint32_t variable = agg_recipe_find_variable(recipe, a->categories.texts[i],
                                                     (size_t)(equals - a->categories.texts[i]));
        if (variable == recipe->recipe->n_variables)
            return no_variable(error, recipe, "--categories");
        for (uint32_t j = 0; j < n; j++) {
            if (wishes[j].variable != variable) continue;
            if (wishes[j].file != NULL)
                return command_refuse(error, "--categories names a variable twice");
            wishes[j].file = equals + 1;
        }
    }
    return SHOAL_OK;
}

// Returns: the most categories of a variable, besides Other, for which the table of all variables
// has at most AGG_JOINT_TABLE_MAX cells; 0 where the usual number fits.
static size_t default_top(uint32_t n_variables)
{
    size_t fit = (size_t)floor(pow(AGG_JOINT_TABLE_MAX, 1.0 / n_variables) + 1e-9) - 1;
    return fit < AGG_JOINT_TOP ? fit : 0;
}

static agg_err read_wishes(agg_joint_wish *wishes, uint32_t *n, agg_error *error,
                           const arguments *a, const agg_recipe *recipe)
{
    static char command[] = "joint";
    agg_err err = read_variables(wishes, n, error, a, recipe);
    if (err == SHOAL_OK) err = read_categories(wishes, *n, error, a, recipe);
    for (uint32_t i = 0; err == SHOAL_OK && i < *n; i++) {
        wishes[i].top = a->result.top > 0 ? a->result.top : default_top(*n);
        wishes[i].no_other = a->no_other;
        wishes[i].with_none = a->with_none;
        wishes[i].confidence = a->result.confidence;
        wishes[i].n_threads = a->result.n_threads;
        wishes[i].log = agg_log_line;
        wishes[i].log_context = command;
    }
    if (err == SHOAL_OK && agg_picks_windows(recipe->recipe) && !a->with_none)
        agg_log_line(command, "reports answer for windows, and an empty window has no value: take "
                              "--none, or shares of lists come out wrong");
    return err;
}

static agg_err find_given(uint32_t *given, agg_error *error, const arguments *a,
                          const agg_recipe *recipe, const agg_joint_wish *wishes, uint32_t n)
{
    *given = 0;
    if (a->given == NULL) return SHOAL_OK;
    if (n != 2)
        return command_refuse(error,
                              "--given needs exactly two variables: name them with --variables");
    for (; *given < 2; (*given)++)
        if (agg_recipe_find_variable(recipe, a->given, strlen(a->given)) == wishes[*given].variable)
            return SHOAL_OK;
    return no_variable(error, recipe, "--given");
}

// ---- the result ----

static agg_err print(FILE *stream, agg_error *error, const void *result, agg_format format)
{
    if ((int)format == FORMAT_SVG) return agg_joint_svg(stream, error, result);
    return agg_joint_print(stream, error, result, format);
}

static agg_err show(agg_error *error, const arguments *a, const agg_recipe *recipe,
                    agg_joint_result *result)
{
    char command[] = "joint";
    agg_guarantee guarantee;
    int format = a->is_svg ? FORMAT_SVG : (int)a->result.format;
    agg_err err =
        agg_guarantee_run(&guarantee, error, recipe->recipe, result->n, &a->result.release);
    if (err != SHOAL_OK) return err;
    result->guarantee = &guarantee;
    err = cli_result_write(error, a->texts.output, print, result, (agg_format)format);
    if (err == SHOAL_OK)
        agg_joint_doubts(result, a->no_other, a->is_em_wald, agg_log_line, command);
    if (err == SHOAL_OK) cli_say_incomplete(command, result->shards, (agg_format)format);
    if (err == SHOAL_OK) cli_say_guarantee(command, &guarantee, NULL, (agg_format)format);
    result->guarantee = NULL;
    return err;
}

static agg_err analyse(agg_error *error, const arguments *a, const agg_recipe *recipe,
                       const agg_accumulator *acc, const agg_joint_chosen *categories, uint32_t n,
                       uint32_t given)
{
    agg_joint_choice choices[SHOAL_VARIABLES_MAX];
    const agg_joint_analysis_options options = {.confidence = a->result.confidence,
                                                .is_em_wald = a->is_em_wald,
                                                .given = given,
                                                .n_threads = a->result.n_threads};
    agg_joint_analysis *analysis = agg_alloc(error, 1, sizeof *analysis);
    if (analysis == NULL) return AGG_ERR_MEMORY;
    for (uint32_t i = 0; i < n; i++) choices[i] = categories[i].choice;
    agg_err err = agg_joint_analyse(analysis, error, recipe, acc, choices, n, &options);
    if (err == SHOAL_OK) {
        err = show(error, a, recipe, &analysis->result);
        agg_joint_analysis_release(analysis);
    }
    free(analysis);
    return err;
}

// Runs once the number of categories and of distinct records is known, before memory is taken that
// depends on them.
static agg_err state_memory(agg_error *error, const arguments *a, const agg_recipe *recipe,
                            const agg_accumulator *acc, const agg_joint_chosen *categories,
                            uint32_t n)
{
    char command[] = "joint";
    agg_joint_choice choices[SHOAL_VARIABLES_MAX];
    uint64_t bytes = agg_accumulator_memory(acc);
    for (uint32_t i = 0; i < n; i++) {
        choices[i] = categories[i].choice;
        bytes += cli_dictionary_memory(&categories[i].dictionary);
    }
    return cli_state_memory(error, command, bytes + agg_joint_memory(recipe, acc, choices, n),
                            a->memory_limit);
}

// Checks the accumulator alone. Logs nothing if it fits, unless nothing else is read.
static agg_err state_accumulator(agg_error *error, const arguments *a, const agg_recipe *recipe)
{
    char command[] = "joint";
    uint64_t bytes = strcmp(a->accumulator, "-") == 0
                         ? 0
                         : cli_accumulator_memory(a->accumulator, recipe->recipe);
    bool is_too_much = a->memory_limit > 0 && bytes + CLI_PROGRAM_BYTES > a->memory_limit;
    return a->is_done || is_too_much ? cli_state_memory(error, command, bytes, a->memory_limit)
                                     : SHOAL_OK;
}

static agg_err joint(agg_error *error, const arguments *a, const agg_recipe *recipe,
                     const agg_accumulator *acc)
{
    agg_joint_wish wishes[SHOAL_VARIABLES_MAX] = {{0}};
    agg_joint_chosen categories[SHOAL_VARIABLES_MAX];
    uint32_t n = 0, made = 0, given = 0;
    agg_err err = agg_joint_may_run(error, recipe, acc);
    if (err == SHOAL_OK) err = read_wishes(wishes, &n, error, a, recipe);
    if (err == SHOAL_OK) err = find_given(&given, error, a, recipe, wishes, n);
    while (err == SHOAL_OK && made < n) {
        err = agg_joint_chosen_make(&categories[made], error, recipe, acc, &wishes[made]);
        made += err == SHOAL_OK;
    }
    if (err == SHOAL_OK) err = state_memory(error, a, recipe, acc, categories, n);
    if (err == SHOAL_OK) err = analyse(error, a, recipe, acc, categories, n, given);
    for (uint32_t i = 0; i < made; i++) agg_joint_chosen_release(&categories[i]);
    return err;
}

// Returns: where --done writes.
static const char *output_of(const arguments *a)
{
    return a->texts.output != NULL ? a->texts.output : a->accumulator;
}

// Writes the accumulator without its records. If it replaces itself, the old file goes when the new
// one is complete.
static agg_err forget(agg_error *error, const arguments *a, agg_accumulator *acc)
{
    char command[] = "joint", text[160];
    if (!agg_accumulator_keeps_records(acc)) {
        agg_log_line(command, "the accumulator has no records, so there is nothing to remove");
        if (a->texts.output == NULL) return SHOAL_OK;
    }
    agg_accumulator_forget(acc);
    agg_err err = agg_accumulator_save(acc, error, output_of(a));
    if (err != SHOAL_OK) return err;
    snprintf(text, sizeof text, "the records of %llu reports were removed; their sums stay",
             (unsigned long long)acc->n);
    agg_log_line(command, text);
    return SHOAL_OK;
}

static agg_err open_accumulator(agg_error *error, const arguments *a, const agg_recipe *recipe)
{
    agg_accumulator acc;
    agg_err err = agg_accumulator_load_result(&acc, error, a->accumulator, recipe->recipe,
                                              cli_wholeness(a->is_incomplete));
    if (err != SHOAL_OK) return err;
    err = a->is_done ? forget(error, a, &acc) : joint(error, a, recipe, &acc);
    agg_accumulator_release(&acc);
    return err;
}

// With --done the accumulator that is written is locked, so that nothing is appended to it between
// reading and writing.
static agg_err open_files(agg_error *error, const arguments *a)
{
    char command[] = "joint";
    agg_recipe recipe;
    agg_file_lock lock = {.fd = -1};
    agg_err err = agg_recipe_from_file(&recipe, error, a->recipe);
    if (err != SHOAL_OK) return err;
    err = state_accumulator(error, a, &recipe);
    if (err == SHOAL_OK && a->is_done)
        err = agg_file_lock_take(&lock, error, command, output_of(a));
    if (err == SHOAL_OK) {
        err = open_accumulator(error, a, &recipe);
        agg_file_lock_release(&lock);
    }
    agg_recipe_release(&recipe);
    return err;
}

static agg_err run(agg_error *error, void *context, const command_words *words)
{
    arguments *a = context;
    a->accumulator = words->texts[0];
    agg_err err = a->is_done ? check_done(a, error) : SHOAL_OK;
    if (err == SHOAL_OK) err = read_results(a, error);
    return err == SHOAL_OK ? open_files(error, a) : err;
}

static const command_option options[] = {REQUIRED_OPTION("recipe", recipe),
                                         OPTION("variables", variables),
                                         OPTION("categories", categories),
                                         OPTION("no-other", no_other),
                                         OPTION("none", with_none),
                                         OPTION("given", given),
                                         OPTION("wald", wald),
                                         OPTION("top", texts.top),
                                         OPTION("confidence", texts.confidence),
                                         RESULT_WRITING_OPTIONS(texts),
                                         OPTION("memory", memory),
                                         OPTION("incomplete", is_incomplete),
                                         OPTION("done", is_done),
                                         LAST_OPTION};

const cli_command cmd_joint = {.name = "joint",
                               .summary = "how the variables of a recipe are associated",
                               .help = help_text,
                               .example = "  shoal joint --recipe pairs.json pairs.acc\n",
                               .options = options,
                               .arguments_size = sizeof(arguments),
                               .least_words = 1,
                               .most_words = 1,
                               .words_refused = "takes one accumulator; shoal merge adds several",
                               .run = run};
