// SPDX-License-Identifier: Apache-2.0
// shoal demo: devices, aggregator and analyst in one process, with the truth beside the estimates.
#include <stdio.h>

#include "call_streams.h"
#include "commands.h"
#include "demo.h"
#include "demo_print.h"
#include "memory_option.h"
#include "options.h"

static const char help_text[] =
    "Usage: shoal demo [--counts FILE] [--devices N] [--seed S]\n"
    "\n"
    "Simulates devices, folds their private records, estimates the counts, and prints estimates,\n"
    "intervals and the truth side by side. Writes no file.\n"
    "\n"
    "  --counts FILE   value<TAB>count lines; default: a shoal of 1,000 made-up kinds\n"
    "  --devices N     default 200000\n"
    "  --seed TEXT     any text; default demo\n"
    "  --top N         print the N largest values; default 20\n"
    "  --threads T     default: all cores\n"
    "  --memory SIZE   take at most this much memory, such as 256M or 2G; refuse if that is not\n"
    "                  enough. Without it, large amounts are logged\n";

typedef struct arguments {
    const char *counts, *devices, *seed, *top, *threads, *memory;
} arguments;

static agg_err read_arguments(agg_demo *demo, uint64_t *top, agg_error *error, const arguments *a)
{
    *top = 20;
    *demo = (agg_demo){
        .counts_path = a->counts, .seed = a->seed != NULL ? a->seed : "demo", .n_devices = 200000};
    agg_err err = SHOAL_OK;
    if (a->devices != NULL)
        err = cli_read_whole(&demo->n_devices, error, "devices", a->devices, 1000, 1000000000);
    if (err == SHOAL_OK && a->top != NULL)
        err = cli_read_whole(top, error, "top", a->top, 1, UINT32_MAX);
    if (err == SHOAL_OK) err = cli_read_memory(&demo->memory_limit, error, a->memory);
    return err == SHOAL_OK ? cli_read_threads(&demo->n_threads, error, a->threads) : err;
}

static agg_err run(agg_error *error, void *context, const command_words *words)
{
    agg_demo demo;
    uint64_t top = 0;
    (void)words;
    agg_err err = read_arguments(&demo, &top, error, context);
    if (err == SHOAL_OK) err = agg_demo_run(&demo, error);
    if (err == SHOAL_OK) agg_demo_print(agg_out(), &demo, (size_t)top);
    agg_demo_release(&demo);
    return err;
}

static const command_option options[] = {OPTION("counts", counts),
                                         OPTION("devices", devices),
                                         OPTION("seed", seed),
                                         OPTION("top", top),
                                         OPTION("threads", threads),
                                         OPTION("memory", memory),
                                         LAST_OPTION};

const cli_command cmd_demo = {.name = "demo",
                              .summary = "simulate, ingest and estimate in one process",
                              .help = help_text,
                              .example = "  shoal demo --devices 20000\n",
                              .options = options,
                              .arguments_size = sizeof(arguments),
                              .run = run};
