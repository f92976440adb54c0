// SPDX-License-Identifier: Apache-2.0
// shoal merge: accumulators of one recipe into one.
#include "commands.h"
#include "memory_option.h"
#include "merge_files.h"
#include "merge_rows.h"

static const char help_text[] =
    "Usage: shoal merge [--rows A-B] -o ACC ACC...\n"
    "\n"
    "Adds accumulators of one recipe. Their order does not change a byte of the result. Two that\n"
    "count the same batch or file of reports are refused, and nothing is written. Accumulators of\n"
    "older versions do not list what they count: they are merged with a warning. Those of shards\n"
    "(shoal manifest) merge with one another only, each shard once.\n"
    "\n"
    "  -o, --output ACC   the accumulator to write, replaced if it exists\n"
    "  --rows A-B         merge only rows A to B of the sketches, so that no process holds them "
    "all;\n"
    "                     rows are counted from 1. A merge of such files puts their rows "
    "together\n"
    "  --memory SIZE      take at most this much memory, such as 256M or 2G; refuse if that is "
    "not\n"
    "                     enough. Without it, large amounts are logged\n";

typedef struct arguments {
    const char *output, *rows, *memory;
} arguments;

static agg_err run(agg_error *error, void *context, const command_words *words)
{
    const arguments *a = context;
    uint64_t limit = 0;
    agg_rows rows;
    agg_err err = cli_read_memory(&limit, error, a->memory);
    if (err == SHOAL_OK) err = agg_merge_rows_parse(&rows, error, a->rows);
    if (err != SHOAL_OK) return err;
    return agg_merge_files(error, a->output, words->texts, words->n, rows, limit);
}

static const command_option options[] = {REQUIRED_OUTPUT_OPTION(output), OPTION("rows", rows),
                                         OPTION("memory", memory), LAST_OPTION};

const cli_command cmd_merge = {.name = "merge",
                               .summary = "add accumulators of one recipe",
                               .help = help_text,
                               .example = "  shoal merge -o both.acc monday.acc tuesday.acc\n",
                               .options = options,
                               .arguments_size = sizeof(arguments),
                               .least_words = 1,
                               .most_words = COMMAND_WORDS_MAX,
                               .words_refused = "no accumulator to merge",
                               .run = run};
