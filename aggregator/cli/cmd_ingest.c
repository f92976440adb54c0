// SPDX-License-Identifier: Apache-2.0
// shoal ingest: batches and NDJSON reports into an accumulator.
#include "commands.h"
#include "ingest_files.h"
#include "memory_option.h"
#include "options.h"
#include "shard_claims.h"

static const char help_text[] =
    "Usage: shoal ingest --recipe R -o ACC FILE...\n"
    "       shoal ingest --recipe R --manifest M --shard I/N -o ACC FILE...\n"
    "\n"
    "Folds reports into an accumulator. A FILE holds batches or NDJSON reports; - is a pipe. A\n"
    "damaged batch, or reports of another recipe, stop the command and leave ACC as it was.\n"
    "ACC lists what it counts: batches by their ids, a file of reports by its fingerprint. What "
    "it\n"
    "counts already is refused. Batches may be compressed, each FILE by zstd or gzip.\n"
    "The second form is for machines that share a collection: the FILEs must hold every batch "
    "that\n"
    "the manifest lists for the shard, and no other. It can be run again.\n"
    "\n"
    "  --recipe FILE        the collection's recipe (JSON)\n"
    "  -o, --output ACC     the accumulator to write; refused if it exists; - is a pipe\n"
    "  --manifest M         fold what this manifest lists (shoal manifest make)\n"
    "  --shard I/N          of its batches only part I of N, 1 to N; default 1/1\n"
    "  --append             add to an existing ACC, which is locked meanwhile\n"
    "  --skip-held          with --append: leave out what ACC counts already, and count the rest\n"
    "  --max-rejected SHARE refuse a file with a larger share of bad NDJSON lines (default 0.01)\n"
    "  --threads T          default: all cores\n"
    "  --memory SIZE        take at most this much memory, such as 256M or 2G; with less, recipes\n"
    "                       of many rows take longer. Without it, large amounts are logged\n";

typedef struct arguments {
    const char *recipe, *output, *max_rejected, *threads, *memory, *manifest, *shard;
    bool append, skip_held;
} arguments;

static agg_err run(agg_error *error, void *context, const command_words *words)
{
    const arguments *a = context;
    agg_ingest_options o = {.recipe = a->recipe,
                            .output = a->output,
                            .is_appending = a->append,
                            .skips_held = a->skip_held,
                            .manifest = a->manifest,
                            .shard = 1,
                            .n_shards = 1,
                            .max_rejected = 0.01,
                            .files = words->texts,
                            .n_files = words->n};
    agg_err err = SHOAL_OK;
    if (a->skip_held && !a->append)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "--skip-held goes with --append");
    if (a->shard != NULL && a->manifest == NULL)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "--shard goes with --manifest");
    if (words->n == 0 && a->manifest == NULL)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "no file to read; - is standard input");
    if (a->shard != NULL) err = agg_shard_parse(&o.shard, &o.n_shards, error, a->shard);
    if (err == SHOAL_OK && a->max_rejected != NULL)
        err = cli_read_decimal(&o.max_rejected, error, "max-rejected", a->max_rejected, 0, 1);
    if (err == SHOAL_OK) err = cli_read_threads(&o.n_threads, error, a->threads);
    if (err == SHOAL_OK) err = cli_read_memory(&o.memory_limit, error, a->memory);
    return err == SHOAL_OK ? agg_ingest_files(error, &o) : err;
}

static const command_option options[] = {REQUIRED_OPTION("recipe", recipe),
                                         REQUIRED_OUTPUT_OPTION(output),
                                         OPTION("manifest", manifest),
                                         OPTION("shard", shard),
                                         OPTION("append", append),
                                         OPTION("skip-held", skip_held),
                                         OPTION("max-rejected", max_rejected),
                                         OPTION("threads", threads),
                                         OPTION("memory", memory),
                                         LAST_OPTION};

const cli_command cmd_ingest = {.name = "ingest",
                                .summary = "fold batches or NDJSON reports into an accumulator",
                                .help = help_text,
                                .example =
                                    "  shoal ingest --recipe fish.json -o today.acc fish.batches\n",
                                .options = options,
                                .arguments_size = sizeof(arguments),
                                .most_words = COMMAND_WORDS_MAX,
                                .run = run};
