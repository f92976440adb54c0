// SPDX-License-Identifier: Apache-2.0
// shoal_track_rivals: THRESH, recomputing every epoch, and memoized responses, side by side on
// simulated devices; see track_compare.h.
#include <stdbool.h>
#include <stdio.h>

#include "agg_size.h"
#include "log.h"
#include "memory_option.h"
#include "options.h"
#include "track_compare.h"

#include <stdlib.h>
#include <string.h>

static const char help_text[] =
    "Usage: shoal_track_rivals --recipe R --counts FILE --seed S [OPTION]...\n\n"
    "Simulates a run of thresh, recomputing every epoch, and memoized responses side by side, and\n"
    "prints error and privacy spent against epochs and changes.\n\n"
    "  --recipe FILE       the recipe of epoch 1, of thresh\n"
    "  --counts FILE       epoch<TAB>value<TAB>count lines, as of shoal simulate\n"
    "  --seed TEXT         any text\n"
    "  --devices N         default: as many as the recipe has users\n"
    "  --epochs T          the first T epochs only\n"
    "  --all               every epoch, not ten of them\n"
    "  --format FORMAT     table (default), json or csv\n"
    "  -o, --output FILE   default: standard output\n"
    "  --threads T         default: all cores\n"
    "  --memory SIZE       refuse to take more than this, as 256M or 2G\n";

typedef struct arguments {
    const char *devices, *epochs, *format, *threads, *memory;
    bool has_all;
    track_compare_options compare;
} arguments;

static agg_err read_format(agg_track_format *format, agg_error *error, const char *text)
{
    *format = AGG_TRACK_TABLE;
    if (text == NULL || strcmp(text, "table") == 0) return SHOAL_OK;
    if (strcmp(text, "json") == 0)
        *format = AGG_TRACK_JSON;
    else if (strcmp(text, "csv") == 0)
        *format = AGG_TRACK_CSV;
    else
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "--format is table, json or csv");
    return SHOAL_OK;
}

static agg_err read_values(arguments *a, agg_error *error)
{
    track_compare_options *o = &a->compare;
    uint64_t epochs = 0;
    agg_err err = cli_need(error, "recipe", o->recipe);
    if (err == SHOAL_OK) err = cli_need(error, "counts", o->counts);
    if (err == SHOAL_OK) err = cli_need(error, "seed", o->seed);
    if (err == SHOAL_OK && a->devices != NULL)
        err = cli_read_whole(&o->n_devices, error, "devices", a->devices, 1, 1000000000);
    if (err == SHOAL_OK && a->epochs != NULL)
        err = cli_read_whole(&epochs, error, "epochs", a->epochs, 1, SHOAL_EPOCHS_MAX);
    o->n_epochs = (uint32_t)epochs;
    o->has_all_epochs = a->has_all;
    if (err == SHOAL_OK) err = read_format(&o->format, error, a->format);
    if (err == SHOAL_OK) err = cli_read_threads(&o->n_threads, error, a->threads);
    return err == SHOAL_OK ? cli_read_memory(&o->memory_limit, error, a->memory) : err;
}

int main(int argc, char **argv)
{
    arguments a = {.has_all = 0};
    const cli_option options[] = {{.name = "recipe", .value = &a.compare.recipe},
                                  {.name = "counts", .value = &a.compare.counts},
                                  {.name = "seed", .value = &a.compare.seed},
                                  {.name = "devices", .value = &a.devices},
                                  {.name = "epochs", .value = &a.epochs},
                                  {.name = "all", .flag = &a.has_all},
                                  {.name = "format", .value = &a.format},
                                  {.name = "output", .letter = 'o', .value = &a.compare.output},
                                  {.name = "threads", .value = &a.threads},
                                  {.name = "memory", .value = &a.memory},
                                  {.name = NULL}};
    agg_error error = {.exit_code = AGG_EXIT_RUNTIME};
    bool is_help = false;
    agg_err err = cli_options_read_only(options, &error, argc, argv, &is_help);
    if (err == SHOAL_OK && is_help) {
        fputs(help_text, stdout);
        return AGG_EXIT_OK;
    }
    if (err == SHOAL_OK) err = read_values(&a, &error);
    if (err == SHOAL_OK) err = track_compare(&error, &a.compare);
    return err == SHOAL_OK ? AGG_EXIT_OK : agg_log_error("track_rivals", &error);
}
