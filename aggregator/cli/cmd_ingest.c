// SPDX-License-Identifier: Apache-2.0
// shoal ingest: batches and NDJSON reports into an accumulator. The accumulator appears only when all input was good.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "accumulator.h"
#include "agg_size.h"
#include "batch_ids.h"
#include "commands.h"
#include "folder.h"
#include "options.h"
#include "reader.h"
#include "talk.h"

static const char help_text[] =
    "Usage: shoal ingest --recipe R -o ACC FILE...\n\n"
    "Folds reports into an accumulator. A FILE holds batches or NDJSON reports; - is a pipe.\n"
    "A damaged batch, or reports of another recipe, stop the command and leave ACC as it was.\n\n"
    "  --recipe FILE        the collection's recipe (JSON)\n"
    "  -o, --output ACC     the accumulator to write; refused when it exists; - is a pipe\n"
    "  --append             add to an existing ACC\n"
    "  --max-rejected SHARE refuse a file with a larger share of bad NDJSON lines (default 0.01)\n"
    "  --threads T          default: all cores\n";

typedef struct arguments {
    const char *recipe, *output, *max_rejected, *threads;
    int append;
    double max_share;
    unsigned n_threads;
    const char **files;
    int n_files;
} arguments;

static shoal_err read_arguments(arguments *a, agg_error *error, int argc, char **argv, int *help)
{
    const cli_option options[] = {{"recipe", 0, &a->recipe, NULL},   {"output", 'o', &a->output, NULL},
                                  {"append", 0, NULL, &a->append},   {"max-rejected", 0, &a->max_rejected, NULL},
                                  {"threads", 0, &a->threads, NULL}, {NULL, 0, NULL, NULL}};
    a->max_share = 0.01;
    a->files = agg_alloc(error, (size_t)argc, sizeof *a->files);
    if (a->files == NULL) return AGG_ERR_MEMORY;
    shoal_err err = cli_options_read(options, error, argc, argv, a->files, &a->n_files, help);
    if (err != SHOAL_OK || *help) return err;
    err = cli_need(error, "recipe", a->recipe);
    if (err == SHOAL_OK) err = cli_need(error, "output", a->output);
    if (err == SHOAL_OK && a->max_rejected != NULL)
        err = cli_read_decimal(&a->max_share, error, "max-rejected", a->max_rejected, 0, 1);
    if (err == SHOAL_OK) err = cli_read_threads(&a->n_threads, error, a->threads);
    if (err == SHOAL_OK && a->n_files == 0)
        err = agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "no file to read; - is standard input");
    return err;
}

typedef struct ingesting {
    agg_folder folder;
    agg_batch_ids ids;
    uint64_t n_repeated;
} ingesting;

static shoal_err take_records(void *context, agg_error *error, const uint8_t *batch_id, const uint8_t *records,
                              uint32_t count)
{
    ingesting *in = context;
    int was_there = 0;
    if (batch_id != NULL) {
        shoal_err err = agg_batch_ids_add(&in->ids, error, batch_id, &was_there);
        if (err != SHOAL_OK) return err;
    }
    if (was_there) {
        in->n_repeated++;
        return SHOAL_OK;
    }
    return agg_folder_add(&in->folder, error, records, count);
}

// Bytes of a file, for the time left; 0 where that is not known.
static uint64_t size_of(const char *path)
{
    struct stat about;
    if (strcmp(path, "-") == 0 || stat(path, &about) != 0 || !S_ISREG(about.st_mode)) return 0;
    return (uint64_t)about.st_size;
}

static shoal_err ingest_file(ingesting *in, agg_error *error, const arguments *a, const agg_recipe *recipe,
                             const char *path)
{
    char text[512], command[] = "ingest";
    agg_read_count count = {0, 0, 0, 0, 0};
    cli_progress progress;
    cli_progress_start(&progress, command, "bytes", size_of(path));
    agg_reader reader = {recipe, take_records, in, cli_talk, command, cli_progress_show, &progress};
    shoal_err err = agg_reader_file(&count, error, &reader, path);
    cli_progress_end(&progress);
    if (err != SHOAL_OK || count.rejected == 0) return err;
    snprintf(text, sizeof text, "%s: %llu of %llu lines were rejected",
             strcmp(path, "-") == 0 ? "standard input" : path, (unsigned long long)count.rejected,
             (unsigned long long)count.lines);
    if ((double)count.rejected > a->max_share * (double)count.lines)
        return agg_fail(error, AGG_ERR_REJECTED, AGG_EXIT_REJECTED, "%s, more than a share of %g; nothing was written",
                        text, a->max_share);
    cli_talk(command, text);
    return SHOAL_OK;
}

static shoal_err ingest_files(agg_accumulator *acc, agg_error *error, const arguments *a, const agg_recipe *recipe)
{
    char text[128], command[] = "ingest";
    ingesting in = {{.n_threads = 1}, {NULL, NULL, 0, 0}, 0};
    shoal_err err = agg_folder_init(&in.folder, error, acc, 0, a->n_threads);
    for (int i = 0; i < a->n_files && err == SHOAL_OK; i++) err = ingest_file(&in, error, a, recipe, a->files[i]);
    if (err == SHOAL_OK) err = agg_folder_flush(&in.folder, error);
    if (err == SHOAL_OK && in.n_repeated > 0) {
        snprintf(text, sizeof text, "%llu batches came more than once and were counted once",
                 (unsigned long long)in.n_repeated);
        cli_talk(command, text);
    }
    agg_folder_release(&in.folder);
    agg_batch_ids_release(&in.ids);
    return err;
}

static shoal_err open_accumulator(agg_accumulator *acc, agg_error *error, const arguments *a, const agg_recipe *recipe)
{
    int exists = strcmp(a->output, "-") != 0 && access(a->output, F_OK) == 0;
    if (!exists) return agg_accumulator_init(acc, error, &recipe->recipe);
    if (!a->append)
        return agg_fail(error, SHOAL_ERR_DUPLICATE, AGG_EXIT_USAGE, "%s exists; --append adds to it", a->output);
    shoal_err err = agg_accumulator_load(acc, error, a->output);
    if (err != SHOAL_OK) return err;
    err = agg_accumulator_check_recipe(acc, error, &recipe->recipe);
    if (err == SHOAL_OK) return SHOAL_OK;
    agg_error_prefix(error, "%s", a->output);
    agg_accumulator_release(acc);
    return err;
}

static shoal_err ingest(agg_error *error, const arguments *a)
{
    agg_recipe recipe;
    agg_accumulator acc;
    shoal_err err = agg_recipe_from_file(&recipe, error, a->recipe);
    if (err != SHOAL_OK) return err;
    err = open_accumulator(&acc, error, a, &recipe);
    if (err == SHOAL_OK) {
        err = ingest_files(&acc, error, a, &recipe);
        if (err == SHOAL_OK) err = agg_accumulator_save(&acc, error, a->output);
        agg_accumulator_release(&acc);
    }
    agg_recipe_release(&recipe);
    return err;
}

int cmd_ingest(int argc, char **argv)
{
    arguments a = {NULL, NULL, NULL, NULL, 0, 0, 1, NULL, 0};
    agg_error error = {SHOAL_OK, AGG_EXIT_RUNTIME, ""};
    int help = 0;
    shoal_err err = read_arguments(&a, &error, argc, argv, &help);
    if (err == SHOAL_OK && help)
        fputs(help_text, stdout);
    else if (err == SHOAL_OK)
        err = ingest(&error, &a);
    free(a.files);
    return err == SHOAL_OK ? AGG_EXIT_OK : cli_failed("ingest", &error);
}
