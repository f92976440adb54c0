// SPDX-License-Identifier: Apache-2.0
// shoal compare: what changed between two accumulators.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "commands.h"
#include "compare.h"
#include "compare_print.h"
#include "domain_dictionary.h"
#include "input_memory.h"
#include "log.h"
#include "memory_option.h"
#include "options.h"
#include "result_options.h"

static const char help_text[] =
    "Usage: shoal compare --recipe R [--recipe-b R2] --dictionary FILE A B\n"
    "\n"
    "Prints how each value's share differs between two accumulators, B less A, with standard "
    "errors\n"
    "and intervals, the surest change first. The two must not share a report. Refuses (exit 3) an\n"
    "accumulator with fewer reports than its recipe's minimum cohort.\n"
    "\n"
    "  --recipe FILE       the collection's recipe (JSON)\n"
    "  --recipe-b FILE     the recipe of B, if it is another\n"
    "  --dictionary FILE   the values to compare, one a line; default: the recipe's own list\n"
    "  --of WHAT           share of all reports (default) or count\n"
    "  --top N             print the N surest changes only\n"
    "  --confidence C      of the intervals, default 0.95\n"
    "  --multiple RULE     correction behind `detected`: bonferroni (default; over the whole\n"
    "                      dictionary), bh or none\n"
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
    const char *recipe, *recipe_b, *dictionary, *of, *memory, *accumulators[2];
    cli_result_texts texts;
    cli_result_options result;
    agg_compare_of what;
    uint64_t memory_limit; // bytes; 0: no limit
    bool is_incomplete;
} arguments;

// One of the two collections.
typedef struct loaded {
    agg_recipe recipe;
    agg_accumulator acc;
    agg_dictionary dictionary;
} loaded;

static agg_err read_arguments(arguments *a, agg_error *error, const command_words *words)
{
    static const char *const whats[] = {"share", "count", NULL};
    size_t what = 0;
    for (int i = 0; i < 2; i++) a->accumulators[i] = words->texts[i];
    if (strcmp(a->accumulators[0], a->accumulators[1]) == 0)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "%s is given twice",
                        a->accumulators[0]);
    agg_err err = command_read_name(&what, error, whats, a->of, "--of is share or count");
    a->what = (agg_compare_of)what;
    if (err == SHOAL_OK) err = cli_read_memory(&a->memory_limit, error, a->memory);
    return err == SHOAL_OK ? cli_result_options_read(&a->result, error, &a->texts) : err;
}

static agg_err load_accumulator(loaded *l, agg_error *error, const arguments *a, int side)
{
    return agg_accumulator_load_result(&l->acc, error, a->accumulators[side], l->recipe.recipe,
                                       cli_wholeness(a->is_incomplete));
}

static void release(loaded *l)
{
    agg_dictionary_release(&l->dictionary);
    agg_accumulator_release(&l->acc);
    agg_recipe_release(&l->recipe);
}

static bool is_same_text(agg_text x, agg_text y)
{
    return x.len == y.len && memcmp(x.bytes, y.bytes, x.len) == 0;
}

static agg_err check_same_lists(agg_error *error, const agg_dictionary *a, const agg_dictionary *b)
{
    bool is_same = a->n == b->n;
    for (size_t i = 0; is_same && i < a->n; i++) is_same = is_same_text(a->values[i], b->values[i]);
    if (is_same) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                    "the recipes' lists differ; --dictionary says which values to compare");
}

static bool is_mean(const agg_recipe *recipe)
{
    return shoal_recipe_part(recipe->recipe, 0)->domain == SHOAL_DOMAIN_NUMBER;
}

// Loads the same values for both sides. Remarks on a file are logged for the first side only, since
// the text rules seldom differ.
static agg_err load_dictionaries(loaded *a, loaded *b, agg_error *error, const char *path)
{
    char command[] = "compare";
    if (path != NULL) {
        agg_err err =
            agg_dictionary_load(&a->dictionary, error, &a->recipe, path, agg_log_line, command);
        return err == SHOAL_OK
                   ? agg_dictionary_load(&b->dictionary, error, &b->recipe, path, NULL, NULL)
                   : err;
    }
    if (is_mean(&a->recipe) != is_mean(&b->recipe))
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "recipe %s or %s estimates a mean and the other one counts", a->recipe.id,
                        b->recipe.id);
    agg_err err = agg_dictionary_of_recipe(&a->dictionary, error, &a->recipe);
    if (err == SHOAL_OK) err = agg_dictionary_of_recipe(&b->dictionary, error, &b->recipe);
    return err == SHOAL_OK ? check_same_lists(error, &a->dictionary, &b->dictionary) : err;
}

static agg_err print(FILE *stream, agg_error *error, const void *result, agg_format format)
{
    return agg_compare_print(stream, error, result, format);
}

static agg_err find_guarantees(agg_guarantee guarantees[2], agg_error *error, const loaded *of_a,
                               const loaded *of_b, const agg_release *release)
{
    agg_err err =
        agg_guarantee_run(&guarantees[0], error, of_a->recipe.recipe, of_a->acc.n, release);
    return err == SHOAL_OK
               ? agg_guarantee_run(&guarantees[1], error, of_b->recipe.recipe, of_b->acc.n, release)
               : err;
}

static agg_err compare(agg_error *error, const arguments *a, const loaded *of_a, const loaded *of_b)
{
    char command[] = "compare", text[160];
    const agg_compare_side side_a = {&of_a->recipe, &of_a->acc, &of_a->dictionary};
    const agg_compare_side side_b = {&of_b->recipe, &of_b->acc, &of_b->dictionary};
    const agg_compare_options options = {a->what, a->result.confidence, a->result.multiple,
                                         a->result.top, a->result.n_threads};
    agg_compare result;
    agg_guarantee guarantees[2];
    agg_err err = agg_compare_run(&result, error, &side_a, &side_b, &options);
    if (err != SHOAL_OK) return err;
    err = find_guarantees(guarantees, error, of_a, of_b, &a->result.release);
    if (err == SHOAL_OK) {
        result.guarantee_a = &guarantees[0];
        result.guarantee_b = &guarantees[1];
        err = cli_result_write(error, a->texts.output, print, &result, a->result.format);
        cli_say_incomplete(command, result.shards_a, a->result.format);
        cli_say_incomplete(command, result.shards_b, a->result.format);
        cli_say_guarantee(command, &guarantees[0], &guarantees[1], a->result.format);
    }
    if (result.n_withheld > 0) {
        snprintf(
            text, sizeof text,
            "%zu of %zu values are below the release threshold on both sides and were withheld",
            result.n_withheld, result.n_dictionary);
        agg_log_line(command, text);
    }
    agg_compare_release(&result);
    return err;
}

// Runs before the accumulators are read, since they take most of the memory.
static agg_err state_memory(agg_error *error, const arguments *a, const loaded *of_a,
                            const loaded *of_b)
{
    char command[] = "compare";
    uint64_t bytes =
        cli_accumulator_memory(a->accumulators[0], of_a->recipe.recipe) +
        cli_accumulator_memory(a->accumulators[1], of_b->recipe.recipe) +
        cli_dictionary_memory(&of_a->dictionary) + cli_dictionary_memory(&of_b->dictionary) +
        agg_compare_memory(&of_a->recipe, &of_b->recipe, of_a->dictionary.n, a->result.n_threads);
    return cli_state_memory(error, command, bytes, a->memory_limit);
}

static agg_err compare_files(agg_error *error, const arguments *a)
{
    loaded of_a = {0}, of_b = {0};
    agg_err err = agg_recipe_from_file(&of_a.recipe, error, a->recipe);
    if (err == SHOAL_OK)
        err = agg_recipe_from_file(&of_b.recipe, error,
                                   a->recipe_b != NULL ? a->recipe_b : a->recipe);
    if (err == SHOAL_OK) err = load_dictionaries(&of_a, &of_b, error, a->dictionary);
    if (err == SHOAL_OK) err = state_memory(error, a, &of_a, &of_b);
    if (err == SHOAL_OK) err = load_accumulator(&of_a, error, a, 0);
    if (err == SHOAL_OK) err = load_accumulator(&of_b, error, a, 1);
    if (err == SHOAL_OK) err = compare(error, a, &of_a, &of_b);
    release(&of_a);
    release(&of_b);
    return err;
}

static agg_err run(agg_error *error, void *context, const command_words *words)
{
    arguments *a = context;
    agg_err err = read_arguments(a, error, words);
    return err == SHOAL_OK ? compare_files(error, a) : err;
}

static const command_option options[] = {REQUIRED_OPTION("recipe", recipe),
                                         OPTION("recipe-b", recipe_b),
                                         OPTION("dictionary", dictionary),
                                         OPTION("of", of),
                                         OPTION("memory", memory),
                                         OPTION("incomplete", is_incomplete),
                                         RESULT_OPTIONS(texts),
                                         LAST_OPTION};

const cli_command cmd_compare = {
    .name = "compare",
    .summary = "what changed between two collections or periods",
    .help = help_text,
    .example = "  shoal compare --recipe fish.json --dictionary fish.txt monday.acc tuesday.acc\n",
    .options = options,
    .arguments_size = sizeof(arguments),
    .least_words = 2,
    .most_words = 2,
    .words_refused = "takes two accumulators",
    .run = run};
