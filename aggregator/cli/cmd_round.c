// SPDX-License-Identifier: Apache-2.0
// shoal round: analyses that ask in rounds.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "commands.h"
#include "log.h"
#include "memory_option.h"
#include "options.h"
#include "recipe_json.h"
#include "refine.h"
#include "round_next.h"

static const char help_text[] =
    "Usage: shoal round next --recipe R ACC -o NEXT\n"
    "\n"
    "Some analyses ask in rounds. Each round is a collection of its own, and its result decides\n"
    "what the next round asks.\n";

static const char next_help[] =
    "Usage: shoal round next --recipe R ACC -o NEXT\n"
    "\n"
    "Writes the recipe of the round that follows this one. Everything that does not follow from\n"
    "this round's result stays as it is.\n"
    "\n"
    "  a field of tokens     sequences that are detected become the next prefixes\n"
    "  a number, --refine    buckets become finer where counts are large\n"
    "  a trie                prefixes that are detected become the next starts\n"
    "  thresh, heavythresh   the votes decide whether the epoch was an update\n"
    "\n"
    "Refuses (exit 3) an accumulator below the minimum cohort. Writes nothing (exit 1) if nothing\n"
    "is detected, and nothing (exit 0) if a trie or a run is complete.\n"
    "\n"
    "  --recipe FILE       this round's recipe (JSON)\n"
    "  -o, --output FILE   the next recipe, unsigned; default: standard output\n"
    "  --field NAME        the field that changes; default: the only one with tokens (with "
    "--refine:\n"
    "                      with boundaries)\n"
    "  --fdr RATE          false-discovery rate of the detection, 0.0001 to 0.5; default 0.05\n"
    "  --max-prefixes N    keep the N strongest at most; default: as many as the domain has room "
    "for\n"
    "  --tokens FILE       other tokens for the next round, one a line; default: the same\n"
    "  --refine N          refine a number into N buckets at most, 4 to 65\n"
    "  --step N            trie: characters that the next round adds, 1 to 4; default: as planned\n"
    "  --sample SHARE      trie: share of the remaining devices that answers; default: as planned\n"
    "  --threshold T       trie: keep only counts of T or more; default: the release threshold\n"
    "  --mechanism NAME    another mechanism: onehot-asymmetric, onehot-symmetric, grr, subset or\n"
    "                      hadamard\n"
    "  --cohort-epsilon E  another central claim\n"
    "  --id NAME           id of the next recipe; default: this one's with the round counted up\n"
    "  --version N         version of the query; default: the same\n"
    "  --expires DATE      default: the same\n"
    "  --seed HEX          64 hex digits, for a mechanism with a seed; default: random\n"
    "  --threads T         default: all cores\n"
    "  --memory SIZE       take at most this much memory, such as 256M or 2G; refuse if that is\n"
    "                      not enough. Without it, large amounts are logged\n";

typedef struct arguments {
    const char *fdr, *max_prefixes, *refine, *version, *cohort_epsilon, *threads, *step, *sample,
        *threshold, *memory;
    round_options round;
} arguments;

static agg_err read_trie_numbers(arguments *a, agg_error *error)
{
    round_options *o = &a->round;
    agg_err err = SHOAL_OK;
    if (a->step != NULL) err = cli_read_whole(&o->step, error, "step", a->step, 1, SHOAL_STEP_MAX);
    if (err == SHOAL_OK && a->sample != NULL)
        err = cli_read_decimal(&o->sample, error, "sample", a->sample, 0.000001, 1);
    if (err == SHOAL_OK && a->threshold != NULL)
        err = cli_read_decimal(&o->threshold, error, "threshold", a->threshold, 0, 1e12);
    return err;
}

static agg_err read_numbers(arguments *a, agg_error *error)
{
    round_options *o = &a->round;
    uint8_t seed[32];
    agg_err err = cli_read_threads(&o->n_threads, error, a->threads);
    if (err == SHOAL_OK) err = cli_read_memory(&o->memory_limit, error, a->memory);
    o->fdr = 0.05;
    if (err == SHOAL_OK && a->fdr != NULL)
        err = cli_read_decimal(&o->fdr, error, "fdr", a->fdr, 0.0001, 0.5);
    if (err == SHOAL_OK && a->max_prefixes != NULL)
        err = cli_read_whole(&o->max_prefixes, error, "max-prefixes", a->max_prefixes, 1,
                             SHOAL_LIST_MAX);
    if (err == SHOAL_OK && a->refine != NULL)
        err = cli_read_whole(&o->refine, error, "refine", a->refine, AGG_REFINE_LEAST,
                             SHOAL_BOUNDARIES_MAX + 1);
    if (err == SHOAL_OK) err = read_trie_numbers(a, error);
    if (err == SHOAL_OK && a->version != NULL)
        err = cli_read_whole(&o->version, error, "version", a->version, 1, 1000000);
    if (err == SHOAL_OK && a->cohort_epsilon != NULL)
        err = cli_read_decimal(&o->cohort_epsilon, error, "cohort-epsilon", a->cohort_epsilon,
                               0.000001, 16);
    if (err == SHOAL_OK && o->seed_hex != NULL && !agg_unhex(seed, sizeof seed, o->seed_hex))
        err = agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "--seed is 64 lower-case hex digits");
    if (err == SHOAL_OK && o->refine > 0 && (o->max_prefixes > 0 || o->tokens != NULL))
        err = agg_fail(
            error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
            "--refine is for a number; --max-prefixes and --tokens are for a field of tokens");
    return err;
}

static agg_err run(agg_error *error, void *context, const command_words *words)
{
    arguments *a = context;
    a->round.accumulator = words->texts[0];
    agg_err err = read_numbers(a, error);
    return err == SHOAL_OK ? round_next(error, &a->round) : err;
}

static const command_option options[] = {REQUIRED_OPTION("recipe", round.recipe),
                                         OUTPUT_OPTION(round.output),
                                         OPTION("field", round.field),
                                         OPTION("fdr", fdr),
                                         OPTION("max-prefixes", max_prefixes),
                                         OPTION("tokens", round.tokens),
                                         OPTION("refine", refine),
                                         OPTION("step", step),
                                         OPTION("sample", sample),
                                         OPTION("threshold", threshold),
                                         OPTION("mechanism", round.mechanism),
                                         OPTION("cohort-epsilon", cohort_epsilon),
                                         OPTION("id", round.id),
                                         OPTION("version", version),
                                         OPTION("expires", round.expires),
                                         OPTION("seed", round.seed_hex),
                                         OPTION("threads", threads),
                                         OPTION("memory", memory),
                                         LAST_OPTION};

#define EXAMPLE "  shoal round next --recipe trie-1.json trie-1.acc -o trie-2.json\n"

static const cli_command next = {
    .name = "next",
    .summary = "write the recipe of the next round",
    .help = next_help,
    .example = EXAMPLE,
    .options = options,
    .arguments_size = sizeof(arguments),
    .least_words = 1,
    .most_words = 1,
    .words_refused = "next takes one accumulator, that of this round; shoal merge adds several",
    .run = run};

static const cli_command *const actions[] = {&next, NULL};

const cli_command cmd_round = {.name = "round",
                               .summary = "write the next round's recipe from this round's result",
                               .help = help_text,
                               .example = EXAMPLE,
                               .actions = actions};
