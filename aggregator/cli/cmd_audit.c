// SPDX-License-Identifier: Apache-2.0
// shoal audit: is a recipe's epsilon what it claims to be?
#include <stdio.h>
#include <string.h>

#include "audit.h"
#include "audit_events.h"
#include "audit_parts.h"
#include "audit_print.h"
#include "call_streams.h"
#include "commands.h"
#include "compound.h"
#include "input_memory.h"
#include "log.h"
#include "memory_option.h"
#include "options.h"
#include "recipe.h"

static const char help_text[] =
    "Usage: shoal audit --recipe R [OPTION]...\n"
    "\n"
    "Checks a recipe's claimed epsilon against its integer thresholds, against the whole output "
    "law\n"
    "if that is small enough, and against what draws of the randomizer prove. Exits with 3 if the\n"
    "claim fails; standard error names the part. Recipes of several parts (sfp, rappor-ngram) are\n"
    "audited part by part, and their epsilons are added up.\n"
    "\n"
    "  --recipe FILE       the recipe (JSON)\n"
    "  --trials N          draws of each item, default 1000000, fewer if records are long\n"
    "  --seed S            any text that the draws are made from, default 1\n"
    "  --items A,B         2 to 8 items to tell apart; an empty one is \"none\". Default: the "
    "first,\n"
    "                      the last and none of a list, the ends of a range, two strings\n"
    "  --draws FILE        lines of item<TAB>record that were drawn elsewhere; - is standard "
    "input\n"
    "  --confidence C      of the bound that draws prove, default 0.999\n"
    "  --format FORMAT     table (default) or json\n"
    "  --threads T         default: all cores\n";

#define TRIALS_DEFAULT 1000000u
#define TRIALS_MAX 1000000000u
#define TRIAL_CHARACTERS ((uint64_t)1 << 27) // record bytes of an item's draws by default

typedef struct arguments {
    const char *recipe, *trials, *seed, *items, *draws, *confidence, *format, *threads;
    uint64_t stated;   // bytes of memory that were logged
    uint64_t n_trials; // 0: the default
    double level;
    unsigned n_threads;
    bool is_json;
} arguments;

static agg_err read_numbers(arguments *a, agg_error *error)
{
    agg_err err = SHOAL_OK;
    a->level = 0.999;
    if (a->trials != NULL)
        err = cli_read_whole(&a->n_trials, error, "trials", a->trials, 2, TRIALS_MAX);
    if (err == SHOAL_OK && a->confidence != NULL)
        err = cli_read_decimal(&a->level, error, "confidence", a->confidence, 0.5, 0.999999999);
    return err == SHOAL_OK ? cli_read_threads(&a->n_threads, error, a->threads) : err;
}

static agg_err read_arguments(arguments *a, agg_error *error)
{
    static const char *const formats[] = {"table", "json", NULL};
    if (a->draws != NULL && (a->trials != NULL || a->seed != NULL))
        return command_refuse(
            error, "--trials and --seed do not go with --draws, which were made elsewhere");
    size_t format = 0;
    agg_err err =
        command_read_name(&format, error, formats, a->format, "--format is table or json");
    a->is_json = format == 1;
    return err == SHOAL_OK ? read_numbers(a, error) : err;
}

static agg_err name_items(agg_draws *draws, agg_error *error, const arguments *a,
                          const agg_recipe *recipe)
{
    agg_err err = SHOAL_OK;
    if (a->items == NULL)
        return a->draws == NULL ? agg_draws_add_usual(draws, error, recipe) : SHOAL_OK;
    for (const char *at = a->items; err == SHOAL_OK; at++) {
        size_t len = strcspn(at, ",");
        err = agg_draws_add_item(draws, error, recipe, (agg_text){at, len});
        at += len;
        if (*at == '\0') break;
    }
    if (err == SHOAL_OK && draws->n_items < 2)
        err = agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "needs two items at least");
    if (err != SHOAL_OK) agg_error_prefix(error, "--items");
    return err;
}

static agg_err make_draws(agg_draws *draws, agg_error *error, const arguments *a,
                          const agg_recipe *recipe)
{
    agg_err err = name_items(draws, error, a, recipe);
    if (err != SHOAL_OK) return err;
    if (a->draws != NULL) return agg_draws_load(draws, error, recipe, a->draws);
    uint64_t fit = TRIAL_CHARACTERS / recipe->recipe->text_size,
             n = fit < TRIALS_DEFAULT ? fit : TRIALS_DEFAULT;
    agg_draws_native(draws, a->seed != NULL ? a->seed : "1", a->n_trials > 0 ? a->n_trials : n);
    return SHOAL_OK;
}

// Logs the memory of a part if it takes more than every part before it.
static agg_err state_memory(agg_error *error, arguments *a, const agg_draws *draws)
{
    char command[] = "audit";
    uint64_t file = a->draws != NULL ? cli_file_bytes(a->draws) : 0,
             bytes = agg_events_memory(draws, a->n_threads);
    for (uint32_t i = 0; i < draws->n_items; i++)
        if (draws->lines[i] != NULL) bytes += draws->count[i] * sizeof(agg_text);
    if (bytes + file <= a->stated) return SHOAL_OK;
    a->stated = bytes + file;
    return cli_state_memory(error, command, bytes + file, 0);
}

//   low: written; the epsilon that draws prove
static agg_err audit_one(agg_error *error, arguments *a, const agg_recipe *recipe, double *low,
                         bool *is_ok)
{
    char command[] = "audit";
    agg_draws draws = {0};
    agg_audit audit;
    agg_err err = make_draws(&draws, error, a, recipe);
    if (err == SHOAL_OK) err = state_memory(error, a, &draws);
    if (err == SHOAL_OK) err = agg_audit_run(&audit, error, recipe, &draws, a->level, a->n_threads);
    if (err == SHOAL_OK) {
        agg_audit_print(&audit, &draws, a->is_json);
        for (uint32_t i = 0; i < audit.n_failures; i++) agg_log_line(command, audit.failures[i]);
        *is_ok = *is_ok && audit.n_failures == 0;
        *low = audit.empirical_low;
    }
    agg_draws_release(&draws);
    return err;
}

static agg_err audit_parts(agg_error *error, const arguments *a, const agg_recipe *recipe,
                           bool *is_ok)
{
    const shoal_recipe *r = recipe->recipe;
    bool is_json = a->is_json;
    agg_audit_sum sum = {r->cost_micro / 1e6, agg_audit_exact_sum(r), 0, true};
    arguments each = *a;
    agg_err err = SHOAL_OK;
    if (a->items != NULL || a->draws != NULL)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "--items and --draws do not go with %s, whose parts are audited one by one",
                        shoal_recipe_mechanism_name(r));
    each.level = 1 - (1 - a->level) / agg_audit_count_kinds(r); // so that all bounds hold at once
    sum.is_ok = sum.exact <= sum.claimed;
    agg_audit_print_start(recipe, is_json);
    for (uint32_t i = 0, n = 0; i < r->n_parts && err == SHOAL_OK; i += n) {
        agg_recipe one;
        shoal_recipe own;
        double low = 0;
        n = agg_audit_count_alike(r, i);
        agg_audit_part(&one, &own, recipe, i);
        agg_audit_print_part_start(i, n, is_json);
        err = audit_one(error, &each, &one, &low, &sum.is_ok);
        agg_audit_print_part_end(is_json);
        sum.low += n * agg_audit_times(r, i) * low;
    }
    if (err == SHOAL_OK) agg_audit_print_sum(recipe, &sum, is_json);
    *is_ok = sum.is_ok;
    return err;
}

static agg_err audit_recipe(agg_error *error, arguments *a, const agg_recipe *recipe)
{
    double low = 0;
    bool is_ok = true;
    agg_err err = recipe->recipe->n_parts > 1 ? audit_parts(error, a, recipe, &is_ok)
                                              : audit_one(error, a, recipe, &low, &is_ok);
    if (err == SHOAL_OK && a->is_json) fputs("\n", agg_out());
    if (err == SHOAL_OK && fflush(agg_out()) != 0)
        err = agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "cannot write the result");
    return err == SHOAL_OK && !is_ok ? command_end(error, AGG_EXIT_PRIVACY) : err;
}

static agg_err run(agg_error *error, void *context, const command_words *words)
{
    arguments *a = context;
    agg_recipe recipe;
    (void)words;
    agg_err err = read_arguments(a, error);
    if (err == SHOAL_OK) err = agg_recipe_from_file(&recipe, error, a->recipe);
    if (err != SHOAL_OK) return err;
    err = audit_recipe(error, a, &recipe);
    agg_recipe_release(&recipe);
    return err;
}

static const command_option options[] = {REQUIRED_OPTION("recipe", recipe),
                                         OPTION("trials", trials),
                                         OPTION("seed", seed),
                                         OPTION("items", items),
                                         OPTION("draws", draws),
                                         OPTION("confidence", confidence),
                                         OPTION("format", format),
                                         OPTION("threads", threads),
                                         LAST_OPTION};

const cli_command cmd_audit = {.name = "audit",
                               .summary = "is a recipe's epsilon what it claims to be?",
                               .help = help_text,
                               .example = "  shoal audit --recipe fish.json --trials 10000\n",
                               .options = options,
                               .arguments_size = sizeof(arguments),
                               .run = run};
