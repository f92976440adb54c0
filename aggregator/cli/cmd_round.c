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
    "Usage: shoal round next --recipe R ACC -o NEXT\n\n"
    "Reads what a round learnt and writes the recipe of the next one. Of a field with prefixes and "
    "tokens,\n"
    "the sequences that stand out of the noise become the prefixes; with --refine, a number's "
    "buckets become finer\n"
    "where the counts are large; of a trie, what does not end becomes the starts; of thresh and "
    "heavythresh,\n"
    "the votes say whether the epoch was an update. Everything else stays. Refuses (exit 3)\n"
    "below the minimum cohort; writes nothing (exit 1) where nothing stands out, nor (exit 0) when "
    "a trie or\n"
    "a run is complete.\n\n"
    "  --recipe FILE       this round's recipe (JSON)\n"
    "  -o, --output FILE   the next recipe, unsigned; default: standard output\n"
    "  --field NAME        the field that changes; default: the only one with tokens (--refine: "
    "with boundaries)\n"
    "  --fdr RATE          false-discovery rate of what stands out, 0.0001 to 0.5; default 0.05\n"
    "  --max-prefixes N    keep the N strongest at most; default: as many as the largest domain "
    "has room for\n"
    "  --tokens FILE       other tokens for the next round, one a line; default: the same\n"
    "  --refine N          N buckets at most, 4 to 65, of a number\n"
    "  --step N            characters that the next round of a trie adds, 1 to 4; default: as "
    "planned\n"
    "  --sample SHARE      of the devices that are left, to answer the next round of a trie; "
    "default: as planned\n"
    "  --threshold T       what is kept of a trie needs this count besides; default: the release "
    "threshold\n"
    "  --mechanism NAME    another mechanism: onehot-asymmetric, onehot-symmetric, grr, subset or "
    "hadamard\n"
    "  --cohort-epsilon E  another central claim\n"
    "  --id NAME           of the next recipe; default: this one's with the round counted up\n"
    "  --version N         of the query; default: the same\n"
    "  --expires DATE      default: the same\n"
    "  --seed HEX          64 hex digits, for a mechanism with keys; default: random\n"
    "  --threads T         default: all cores\n"
    "  --memory SIZE       take no more than this, as 256M or 2G. Without it, what is taken is "
    "said where it is much\n";

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
        err =
            agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                     "--refine changes a number; --max-prefixes and --tokens are of another round");
    return err;
}

static agg_err read_arguments(arguments *a, agg_error *error, int argc, char **argv, int *help)
{
    round_options *o = &a->round;
    const cli_option options[] = {{"recipe", 0, &o->recipe, NULL},
                                  {"output", 'o', &o->output, NULL},
                                  {"field", 0, &o->field, NULL},
                                  {"fdr", 0, &a->fdr, NULL},
                                  {"max-prefixes", 0, &a->max_prefixes, NULL},
                                  {"tokens", 0, &o->tokens, NULL},
                                  {"refine", 0, &a->refine, NULL},
                                  {"step", 0, &a->step, NULL},
                                  {"sample", 0, &a->sample, NULL},
                                  {"threshold", 0, &a->threshold, NULL},
                                  {"mechanism", 0, &o->mechanism, NULL},
                                  {"cohort-epsilon", 0, &a->cohort_epsilon, NULL},
                                  {"id", 0, &o->id, NULL},
                                  {"version", 0, &a->version, NULL},
                                  {"expires", 0, &o->expires, NULL},
                                  {"seed", 0, &o->seed_hex, NULL},
                                  {"threads", 0, &a->threads, NULL},
                                  {"memory", 0, &a->memory, NULL},
                                  {NULL, 0, NULL, NULL}};
    int n = 0;
    const char **rest = agg_alloc(error, (size_t)argc, sizeof *rest);
    if (rest == NULL) return AGG_ERR_MEMORY;
    agg_err err = cli_options_read(options, error, argc, argv, rest, &n, help);
    if (err == SHOAL_OK && !*help && (n == 0 || strcmp(rest[0], "next") != 0))
        err = agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "say what to do: shoal round next");
    if (err == SHOAL_OK && !*help && n != 2)
        err = agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                       "next takes one accumulator, of this round; shoal merge adds several");
    if (n == 2) o->accumulator = rest[1];
    free(rest);
    if (err != SHOAL_OK || *help) return err;
    err = cli_need(error, "recipe", o->recipe);
    return err == SHOAL_OK ? read_numbers(a, error) : err;
}

int cmd_round(int argc, char **argv)
{
    arguments a = {0};
    agg_error error = {SHOAL_OK, AGG_EXIT_RUNTIME, ""};
    int help = 0;
    agg_err err = read_arguments(&a, &error, argc, argv, &help);
    if (err == SHOAL_OK && help)
        fputs(help_text, stdout);
    else if (err == SHOAL_OK)
        err = round_next(&error, &a.round);
    return err == SHOAL_OK ? AGG_EXIT_OK : agg_log_error("round", &error);
}
