// SPDX-License-Identifier: Apache-2.0
// shoal estimate: counts of known values from an accumulator.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_file.h"
#include "agg_size.h"
#include "commands.h"
#include "estimate.h"
#include "estimate_print.h"
#include "options.h"
#include "talk.h"

static const char help_text[] =
    "Usage: shoal estimate --recipe R --dictionary FILE ACC\n\n"
    "Prints counts with standard errors and intervals, largest first. Refuses (exit 3) when the\n"
    "accumulator holds fewer reports than the recipe's minimum cohort.\n\n"
    "  --recipe FILE       the collection's recipe (JSON)\n"
    "  --dictionary FILE   the values to count, one a line; default: the recipe's own list, if it has one\n"
    "  --top N             print the N largest only\n"
    "  --confidence C      of the intervals, default 0.95\n"
    "  --multiple RULE     behind `detected`: bonferroni (default; over the whole dictionary), bh or none\n"
    "  --format FORMAT     table (default), json, ndjson or csv\n"
    "  -o, --output FILE   default: standard output\n"
    "  --threads T         default: all cores\n";

typedef struct arguments {
    const char *recipe, *dictionary, *top, *confidence, *multiple, *format, *output, *threads, *accumulator;
    agg_estimate_options options;
    agg_format form;
} arguments;

// The position of a name in a list that ends with NULL; the list's length when it is not there.
static size_t position(const char *const *names, const char *name)
{
    size_t i = 0;
    while (names[i] != NULL && strcmp(names[i], name) != 0) i++;
    return i;
}

static shoal_err read_names(arguments *a, agg_error *error)
{
    static const char *const formats[] = {"table", "json", "ndjson", "csv", NULL};
    static const char *const rules[] = {"bonferroni", "bh", "none", NULL};
    size_t form = a->format != NULL ? position(formats, a->format) : 0;
    size_t rule = a->multiple != NULL ? position(rules, a->multiple) : 0;
    if (formats[form] == NULL)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "--format is table, json, ndjson or csv");
    if (rules[rule] == NULL)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "--multiple is bonferroni, bh or none");
    a->form = (agg_format)form;
    a->options.multiple = (agg_multiple)rule;
    return SHOAL_OK;
}

static shoal_err read_numbers(arguments *a, agg_error *error)
{
    uint64_t top = 0;
    shoal_err err = SHOAL_OK;
    if (a->top != NULL) err = cli_read_whole(&top, error, "top", a->top, 1, UINT32_MAX);
    a->options.top = (size_t)top;
    if (err == SHOAL_OK && a->confidence != NULL)
        err = cli_read_decimal(&a->options.confidence, error, "confidence", a->confidence, 0.000001, 0.999999999999);
    if (err == SHOAL_OK) err = cli_read_threads(&a->options.n_threads, error, a->threads);
    return err;
}

static shoal_err read_arguments(arguments *a, agg_error *error, int argc, char **argv, int *help)
{
    const cli_option options[] = {{"recipe", 0, &a->recipe, NULL},
                                  {"dictionary", 0, &a->dictionary, NULL},
                                  {"top", 0, &a->top, NULL},
                                  {"confidence", 0, &a->confidence, NULL},
                                  {"multiple", 0, &a->multiple, NULL},
                                  {"format", 0, &a->format, NULL},
                                  {"output", 'o', &a->output, NULL},
                                  {"threads", 0, &a->threads, NULL},
                                  {NULL, 0, NULL, NULL}};
    int n_files = 0;
    const char **files = agg_alloc(error, (size_t)argc, sizeof *files);
    if (files == NULL) return AGG_ERR_MEMORY;
    shoal_err err = cli_options_read(options, error, argc, argv, files, &n_files, help);
    if (err == SHOAL_OK && n_files > 0) a->accumulator = files[0];
    free(files);
    if (err != SHOAL_OK || *help) return err;
    err = cli_need(error, "recipe", a->recipe);
    if (err == SHOAL_OK && n_files != 1)
        err = agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "takes one accumulator; shoal merge adds several");
    if (err == SHOAL_OK) err = read_names(a, error);
    return err == SHOAL_OK ? read_numbers(a, error) : err;
}

static shoal_err print_to(agg_error *error, const arguments *a, const agg_estimate *estimate)
{
    agg_file file;
    if (a->output == NULL || strcmp(a->output, "-") == 0) return agg_estimate_print(stdout, error, estimate, a->form);
    shoal_err err = agg_file_create(&file, error, a->output);
    if (err != SHOAL_OK) return err;
    err = agg_estimate_print(file.stream, error, estimate, a->form);
    if (err == SHOAL_OK) return agg_file_commit(&file, error);
    agg_file_abandon(&file);
    return err;
}

static shoal_err estimate_with(agg_error *error, const arguments *a, const agg_recipe *recipe,
                               const agg_accumulator *acc)
{
    char command[] = "estimate", text[160];
    agg_dictionary dictionary = {0};
    agg_estimate estimate;
    shoal_err err = a->dictionary != NULL
                        ? agg_dictionary_load(&dictionary, error, recipe, a->dictionary, cli_talk, command)
                        : agg_dictionary_of_recipe(&dictionary, error, recipe);
    if (err == SHOAL_OK) {
        err = agg_estimate_run(&estimate, error, recipe, acc, &dictionary, &a->options);
        if (err == SHOAL_OK) {
            err = print_to(error, a, &estimate);
            if (estimate.n_withheld > 0) {
                snprintf(text, sizeof text, "%zu of %zu values are below the release threshold and were withheld",
                         estimate.n_withheld, estimate.n_dictionary);
                cli_talk(command, text);
            }
            agg_estimate_release(&estimate);
        }
    }
    agg_dictionary_release(&dictionary);
    return err;
}

static shoal_err run(agg_error *error, const arguments *a)
{
    agg_recipe recipe;
    agg_accumulator acc;
    shoal_err err = agg_recipe_from_file(&recipe, error, a->recipe);
    if (err != SHOAL_OK) return err;
    err = agg_accumulator_load(&acc, error, a->accumulator);
    if (err == SHOAL_OK) {
        err = agg_accumulator_check_recipe(&acc, error, &recipe.recipe);
        if (err != SHOAL_OK) agg_error_prefix(error, "%s", a->accumulator);
        if (err == SHOAL_OK) err = estimate_with(error, a, &recipe, &acc);
        agg_accumulator_release(&acc);
    }
    agg_recipe_release(&recipe);
    return err;
}

int cmd_estimate(int argc, char **argv)
{
    arguments a = {0};
    agg_error error = {SHOAL_OK, AGG_EXIT_RUNTIME, ""};
    int help = 0;
    shoal_err err = read_arguments(&a, &error, argc, argv, &help);
    if (err == SHOAL_OK && help)
        fputs(help_text, stdout);
    else if (err == SHOAL_OK)
        err = run(&error, &a);
    return err == SHOAL_OK ? AGG_EXIT_OK : cli_failed("estimate", &error);
}
