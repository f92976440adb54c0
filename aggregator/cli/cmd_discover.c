// SPDX-License-Identifier: Apache-2.0
// shoal discover: strings that nobody listed, from the accumulators of a collection or of its
// rounds.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "commands.h"
#include "discover.h"
#include "discover_print.h"
#include "input_memory.h"
#include "known_texts.h"
#include "log.h"
#include "memory_option.h"
#include "options.h"
#include "result_options.h"

#define ROUNDS_MAX 1000u // the largest round.index

static const char help_text[] =
    "Usage: shoal discover --recipe R ACC [--recipe R2 ACC2]...\n"
    "\n"
    "Finds strings that no list held, with counts, standard errors and intervals, largest first,\n"
    "from recipes of sfp, rappor-ngram or trie. The rounds of a trie are given in their order, "
    "each\n"
    "recipe with its accumulator. Refuses (exit 3) an accumulator with fewer reports than its\n"
    "recipe's minimum cohort.\n"
    "\n"
    "  --recipe FILE       a collection's recipe (JSON); once for each round\n"
    "  --known FILE        strings to leave out, one a line; anything after a tab is ignored\n"
    "  --fdr SHARE         expected share, among the strings found, of those nobody sent;\n"
    "                      default 0.05\n"
    "  --threshold T       only strings with T reports or more; default: no threshold\n"
    "  --confidence C      of the intervals, default 0.95\n"
    "  --top N             print the N largest only\n"
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
    command_values recipes;    // one for each round, in order
    const char **accumulators; // one for each recipe
    size_t n_rounds;
    const char *known, *fdr_text, *threshold_text, *memory;
    cli_result_texts texts;
    cli_result_options result;
    double fdr, threshold;
    uint64_t memory_limit; // bytes; 0: no limit
    bool is_incomplete;
} arguments;

static agg_err check_rounds(const arguments *a, agg_error *error, int n_files)
{
    if (a->n_rounds > ROUNDS_MAX) return command_refuse(error, "more than 1000 rounds");
    if ((size_t)n_files == a->n_rounds) return SHOAL_OK;
    return agg_fail(
        error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
        "%zu recipe%s and %d accumulator%s: each recipe takes one; shoal merge adds several",
        a->n_rounds, a->n_rounds == 1 ? "" : "s", n_files, n_files == 1 ? "" : "s");
}

static agg_err read_arguments(arguments *a, agg_error *error, const command_words *words)
{
    a->n_rounds = a->recipes.n;
    a->accumulators = words->texts;
    agg_err err = check_rounds(a, error, words->n);
    if (err == SHOAL_OK && a->fdr_text != NULL)
        err = cli_read_decimal(&a->fdr, error, "fdr", a->fdr_text, 0.000001, 0.999999);
    if (err == SHOAL_OK && a->threshold_text != NULL)
        err = cli_read_decimal(&a->threshold, error, "threshold", a->threshold_text, 0, 1e15);
    if (err == SHOAL_OK) err = cli_read_memory(&a->memory_limit, error, a->memory);
    return err == SHOAL_OK ? cli_result_options_read(&a->result, error, &a->texts) : err;
}

// ---- results ----

static agg_err print(FILE *stream, agg_error *error, const void *result, agg_format format)
{
    return agg_discovery_print(stream, error, result, format);
}

// Logs notes and cuts, which only JSON holds itself.
static void say_lines(char *command, const agg_discovery *d, agg_format format)
{
    char text[AGG_DISCOVERY_NOTE_MAX + 16];
    if (format == AGG_JSON) return;
    for (uint32_t i = 0; i < d->n_notes; i++) {
        snprintf(text, sizeof text, "%s", d->notes[i]);
        agg_log_line(command, text);
    }
    for (uint32_t i = 0; i < d->n_cuts; i++) {
        snprintf(text, sizeof text, "cut: %s", d->cuts[i]);
        agg_log_line(command, text);
    }
}

static void say_left_out(char *command, const agg_discovery *d, agg_format format)
{
    char text[160];
    if (d->n_known > 0 && format != AGG_JSON) {
        snprintf(text, sizeof text, "%zu more were found, but are known", d->n_known);
        agg_log_line(command, text);
    }
    if (d->n_withheld > 0) {
        snprintf(text, sizeof text, "%zu strings are below the release threshold and were withheld",
                 d->n_withheld);
        agg_log_line(command, text);
    }
}

static agg_shards_about count_shards(const agg_discover_round *rounds, size_t n)
{
    agg_shards_about all = {0, 0};
    for (size_t i = 0; i < n; i++) {
        agg_shards_about own = agg_shard_claims_about(&rounds[i].acc->shards);
        all = (agg_shards_about){all.n + own.n, all.missing + own.missing};
    }
    return all;
}

static agg_err show(agg_error *error, const arguments *a, const agg_discovery *discovery,
                    const agg_discover_round *rounds)
{
    char command[] = "discover";
    agg_guarantee guarantee;
    const agg_discovery_result result = {discovery, &guarantee, a->n_rounds,
                                         count_shards(rounds, a->n_rounds)};
    agg_err err =
        agg_discover_guarantee(&guarantee, error, rounds, a->n_rounds, &a->result.release);
    if (err == SHOAL_OK)
        err = cli_result_write(error, a->texts.output, print, &result, a->result.format);
    if (err != SHOAL_OK) return err;
    say_lines(command, discovery, a->result.format);
    say_left_out(command, discovery, a->result.format);
    cli_say_incomplete(command, result.shards, a->result.format);
    cli_say_guarantee(command, &guarantee, NULL, a->result.format);
    return SHOAL_OK;
}

static agg_err discover(agg_error *error, const arguments *a, const agg_discover_round *rounds)
{
    agg_list known = {0};
    agg_discovery discovery;
    agg_err err = agg_known_texts_load(&known, error, a->known, rounds[a->n_rounds - 1].recipe);
    if (err != SHOAL_OK) return err;
    const agg_discover_options options = {.confidence = a->result.confidence,
                                          .fdr = a->fdr,
                                          .threshold = a->threshold,
                                          .top = a->result.top,
                                          .known = &known,
                                          .n_threads = a->result.n_threads,
                                          .release = a->result.release};
    err = agg_discover_run(&discovery, error, rounds, a->n_rounds, &options);
    if (err == SHOAL_OK) {
        err = show(error, a, &discovery, rounds);
        agg_discovery_release(&discovery);
    }
    agg_list_release(&known);
    return err;
}

typedef struct loaded_round {
    agg_recipe recipe;
    agg_accumulator acc;
} loaded_round;

// Runs before the accumulators are read; all of them stay in memory until the end.
static agg_err state_memory(agg_error *error, const arguments *a, const loaded_round *loaded)
{
    char command[] = "discover";
    uint64_t kept = 0, most = 0;
    for (size_t i = 0; i < a->n_rounds; i++) {
        uint64_t accumulator = cli_accumulator_memory(a->accumulators[i], loaded[i].recipe.recipe);
        uint64_t bytes = agg_discover_memory(&loaded[i].recipe, accumulator, a->result.n_threads);
        kept += accumulator;
        if (bytes > most) most = bytes;
    }
    return cli_state_memory(error, command, kept + most, a->memory_limit);
}

static agg_err load_rounds(loaded_round *loaded, agg_discover_round *rounds, agg_error *error,
                           const arguments *a)
{
    agg_err err = SHOAL_OK;
    for (size_t i = 0; i < a->n_rounds && err == SHOAL_OK; i++)
        err = agg_recipe_from_file(&loaded[i].recipe, error, a->recipes.texts[i]);
    if (err == SHOAL_OK) err = state_memory(error, a, loaded);
    for (size_t i = 0; i < a->n_rounds && err == SHOAL_OK; i++) {
        err = agg_accumulator_load_result(&loaded[i].acc, error, a->accumulators[i],
                                          loaded[i].recipe.recipe, cli_wholeness(a->is_incomplete));
        rounds[i] = (agg_discover_round){&loaded[i].recipe, &loaded[i].acc};
    }
    return err;
}

static agg_err discover_files(agg_error *error, const arguments *a)
{
    loaded_round *loaded = agg_alloc(error, a->n_rounds, sizeof *loaded);
    agg_discover_round *rounds = agg_alloc(error, a->n_rounds, sizeof *rounds);
    agg_err err = loaded == NULL || rounds == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
    if (err == SHOAL_OK) err = load_rounds(loaded, rounds, error, a);
    if (err == SHOAL_OK) err = discover(error, a, rounds);
    for (size_t i = 0; loaded != NULL && i < a->n_rounds; i++) {
        agg_accumulator_release(&loaded[i].acc);
        agg_recipe_release(&loaded[i].recipe);
    }
    free(rounds);
    free(loaded);
    return err;
}

static agg_err run(agg_error *error, void *context, const command_words *words)
{
    arguments *a = context;
    agg_err err = read_arguments(a, error, words);
    return err == SHOAL_OK ? discover_files(error, a) : err;
}

static const command_option options[] = {REQUIRED_OPTION("recipe", recipes),
                                         OPTION("known", known),
                                         OPTION("fdr", fdr_text),
                                         OPTION("threshold", threshold_text),
                                         OPTION("top", texts.top),
                                         OPTION("confidence", texts.confidence),
                                         RESULT_WRITING_OPTIONS(texts),
                                         OPTION("memory", memory),
                                         OPTION("incomplete", is_incomplete),
                                         LAST_OPTION};

const cli_command cmd_discover = {.name = "discover",
                                  .summary = "strings that nobody listed, with counts and errors",
                                  .help = help_text,
                                  .example = "  shoal discover --recipe words.json words.acc\n",
                                  .options = options,
                                  .arguments_size = sizeof(arguments),
                                  .most_words = COMMAND_WORDS_MAX,
                                  .run = run};
