// SPDX-License-Identifier: Apache-2.0
// shoal ingest: batches and NDJSON reports into an accumulator. The accumulator appears only when
// all input was good.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "accumulator.h"
#include "agg_size.h"
#include "batch_ids.h"
#include "commands.h"
#include "folder.h"
#include "input_memory.h"
#include "memory_option.h"
#include "options.h"
#include "reader.h"
#include "talk.h"

#define LEAST_BUFFER ((size_t)64 << 10) // below it --memory is refused

static const char help_text[] =
    "Usage: shoal ingest --recipe R -o ACC FILE...\n\n"
    "Folds reports into an accumulator. A FILE holds batches or NDJSON reports; - is a pipe.\n"
    "A damaged batch, or reports of another recipe, stop the command and leave ACC as it was.\n\n"
    "  --recipe FILE        the collection's recipe (JSON)\n"
    "  -o, --output ACC     the accumulator to write; refused when it exists; - is a pipe\n"
    "  --append             add to an existing ACC\n"
    "  --max-rejected SHARE refuse a file with a larger share of bad NDJSON lines (default 0.01)\n"
    "  --threads T          default: all cores\n"
    "  --memory SIZE        take no more than this, as 256M or 2G; less is slower where a recipe "
    "has many rows.\n"
    "                       Without it, what is taken is said where it is much\n";

typedef struct arguments {
    const char *recipe, *output, *max_rejected, *threads, *memory;
    int append;
    double max_share;
    unsigned n_threads;
    uint64_t memory_limit; // 0: none
    const char **files;
    int n_files;
} arguments;

static agg_err read_arguments(arguments *a, agg_error *error, int argc, char **argv, int *help)
{
    const cli_option options[] = {{"recipe", 0, &a->recipe, NULL},
                                  {"output", 'o', &a->output, NULL},
                                  {"append", 0, NULL, &a->append},
                                  {"max-rejected", 0, &a->max_rejected, NULL},
                                  {"threads", 0, &a->threads, NULL},
                                  {"memory", 0, &a->memory, NULL},
                                  {NULL, 0, NULL, NULL}};
    a->max_share = 0.01;
    a->files = agg_alloc(error, (size_t)argc, sizeof *a->files);
    if (a->files == NULL) return AGG_ERR_MEMORY;
    agg_err err = cli_options_read(options, error, argc, argv, a->files, &a->n_files, help);
    if (err != SHOAL_OK || *help) return err;
    err = cli_need(error, "recipe", a->recipe);
    if (err == SHOAL_OK) err = cli_need(error, "output", a->output);
    if (err == SHOAL_OK && a->max_rejected != NULL)
        err = cli_read_decimal(&a->max_share, error, "max-rejected", a->max_rejected, 0, 1);
    if (err == SHOAL_OK) err = cli_read_threads(&a->n_threads, error, a->threads);
    if (err == SHOAL_OK) err = cli_read_memory(&a->memory_limit, error, a->memory);
    if (err == SHOAL_OK && a->n_files == 0)
        err =
            agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "no file to read; - is standard input");
    return err;
}

typedef struct ingesting {
    agg_folder folder;
    agg_batch_ids ids;
    uint64_t n_repeated;
    agg_lock guard; // of the two, where threads take runs at the same time
} ingesting;

// Notes a batch. *is_fresh: whether it was not there yet, and is to be counted.
static agg_err note_batch(ingesting *in, agg_error *error, const agg_run *run, int *is_fresh)
{
    bool was_there = false;
    agg_err err = run->batch_id == NULL
                      ? SHOAL_OK
                      : agg_batch_ids_add(&in->ids, error, run->batch_id, &was_there);
    if (was_there) in->n_repeated++;
    *is_fresh = !was_there;
    return err;
}

static agg_err take_records(void *context, agg_error *error, const agg_run *runs, uint32_t n_runs)
{
    ingesting *in = context;
    agg_folder_run fresh[AGG_RUNS_MAX];
    uint32_t n_fresh = 0;
    for (uint32_t i = 0; i < n_runs; i++) {
        int is_fresh = 0;
        agg_err err = note_batch(in, error, &runs[i], &is_fresh);
        if (err != SHOAL_OK) return err;
        if (is_fresh) fresh[n_fresh++] = (agg_folder_run){runs[i].records, runs[i].count};
    }
    return agg_folder_add_runs(&in->folder, error, fresh, n_fresh);
}

// The same on several threads, each as a worker of the folder.
static agg_err take_run(void *context, agg_error *error, unsigned part, const agg_run *run)
{
    ingesting *in = context;
    const agg_folder_run records = {run->records, run->count};
    int is_fresh = 0;
    agg_lock_take(&in->guard);
    agg_err err = note_batch(in, error, run, &is_fresh);
    agg_lock_leave(&in->guard);
    return err == SHOAL_OK && is_fresh ? agg_folder_add_as(&in->folder, error, part, &records)
                                       : err;
}

static agg_err ingest_file(ingesting *in, agg_error *error, const arguments *a,
                           const agg_recipe *recipe, const char *path)
{
    char text[512], command[] = "ingest";
    agg_read_count count = {0, 0, 0, 0, 0};
    cli_progress progress;
    cli_progress_start(&progress, command, "bytes", cli_file_bytes(path));
    agg_reader reader = {recipe,  take_records,      in,        cli_talk,
                         command, cli_progress_show, &progress, a->n_threads};
    agg_share share =
        a->n_threads > 1 && agg_folder_workers(&in->folder) >= a->n_threads ? take_run : NULL;
    agg_err err =
        agg_reader_file_shared(&count, error, &reader, share, agg_folder_span(&in->folder), path);
    cli_progress_end(&progress);
    if (err != SHOAL_OK || count.rejected == 0) return err;
    snprintf(text, sizeof text, "%s: %llu of %llu lines were rejected",
             strcmp(path, "-") == 0 ? "standard input" : path, (unsigned long long)count.rejected,
             (unsigned long long)count.lines);
    if ((double)count.rejected > a->max_share * (double)count.lines)
        return agg_fail(error, AGG_ERR_REJECTED, AGG_EXIT_REJECTED,
                        "%s, more than a share of %g; nothing was written", text, a->max_share);
    cli_talk(command, text);
    return SHOAL_OK;
}

// Bytes that all files hold: no record takes fewer there than in memory. UINT64_MAX where one is a
// pipe.
static uint64_t input_bytes(const arguments *a)
{
    uint64_t sum = 0;
    for (int i = 0; i < a->n_files; i++) {
        uint64_t size = cli_file_bytes(a->files[i]);
        if (size == 0) return UINT64_MAX;
        sum += size;
    }
    return sum;
}

// What is taken beside the folder, of an empty accumulator of the recipe.
static uint64_t fixed_bytes(const agg_accumulator *acc, const arguments *a,
                            const agg_recipe *recipe)
{
    uint64_t input = input_bytes(a),
             bytes = cli_reader_memory(a->files, a->n_files, recipe, a->n_threads);
    for (uint32_t i = 0; i < acc->n_parts; i++)
        bytes += 4 * (acc->parts[i].n_cells + acc->parts[i].n_rows);
    if (agg_accumulator_keeps_records(acc))
        bytes += input < AGG_RECORD_SET_BYTES ? input : AGG_RECORD_SET_BYTES;
    return bytes;
}

// Finds how large the folder's buffer may be: no larger than what comes, and less where --memory
// asks for that; then says what is taken in all.
static agg_err plan_memory(size_t *buffer, agg_error *error, const agg_accumulator *acc,
                           const arguments *a, const agg_recipe *recipe)
{
    char command[] = "ingest";
    uint64_t fixed = fixed_bytes(acc, a, recipe), input = input_bytes(a), bytes = 0;
    agg_folder_memory folder = agg_folder_memory_of(acc, 0, a->n_threads);
    *buffer = (size_t)(input < folder.buffer ? input : folder.buffer);
    for (;; *buffer -= *buffer / 8) {
        folder = agg_folder_memory_of(acc, *buffer, a->n_threads);
        bytes = fixed + folder.buffer + folder.beside;
        int fits = a->memory_limit == 0 || bytes + CLI_PROGRAM_BYTES <= a->memory_limit;
        if (fits || *buffer < LEAST_BUFFER) break;
    }
    return cli_state_memory(error, command, bytes, a->memory_limit);
}

static agg_err ingest_files(agg_accumulator *acc, agg_error *error, const arguments *a,
                            const agg_recipe *recipe, size_t buffer)
{
    char text[128], command[] = "ingest";
    ingesting in = {.n_repeated = 0};
    if (!agg_lock_init(&in.guard))
        return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "no lock for the threads");
    agg_err err = agg_folder_init(&in.folder, error, acc, buffer, a->n_threads);
    for (int i = 0; i < a->n_files && err == SHOAL_OK; i++)
        err = ingest_file(&in, error, a, recipe, a->files[i]);
    if (err == SHOAL_OK) err = agg_folder_flush(&in.folder, error);
    if (err == SHOAL_OK && in.n_repeated > 0) {
        snprintf(text, sizeof text, "%llu batches came more than once and were counted once",
                 (unsigned long long)in.n_repeated);
        cli_talk(command, text);
    }
    agg_folder_release(&in.folder);
    agg_batch_ids_release(&in.ids);
    agg_lock_release(&in.guard);
    return err;
}

static agg_err load_accumulator(agg_accumulator *acc, agg_error *error, const char *path,
                                const agg_recipe *recipe)
{
    agg_err err = agg_accumulator_load(acc, error, path);
    if (err != SHOAL_OK) return err;
    err = agg_accumulator_check_recipe(acc, error, &recipe->recipe);
    if (err == SHOAL_OK) return SHOAL_OK;
    agg_error_prefix(error, "%s", path);
    agg_accumulator_release(acc);
    return err;
}

// Makes an empty accumulator, or loads the one to append to. Memory is planned before anything is
// written to it.
static agg_err open_accumulator(agg_accumulator *acc, size_t *buffer, agg_error *error,
                                const arguments *a, const agg_recipe *recipe)
{
    int exists = strcmp(a->output, "-") != 0 && access(a->output, F_OK) == 0;
    if (exists && !a->append)
        return agg_fail(error, SHOAL_ERR_DUPLICATE, AGG_EXIT_USAGE,
                        "%s exists; --append adds to it", a->output);
    agg_err err = agg_accumulator_init(acc, error, &recipe->recipe);
    if (err != SHOAL_OK) return err;
    err = plan_memory(buffer, error, acc, a, recipe);
    if (err == SHOAL_OK && !exists) return SHOAL_OK;
    agg_accumulator_release(acc);
    return err == SHOAL_OK ? load_accumulator(acc, error, a->output, recipe) : err;
}

static agg_err ingest(agg_error *error, const arguments *a)
{
    agg_recipe recipe;
    agg_accumulator acc;
    size_t buffer = 0;
    agg_err err = agg_recipe_from_file(&recipe, error, a->recipe);
    if (err != SHOAL_OK) return err;
    err = open_accumulator(&acc, &buffer, error, a, &recipe);
    if (err == SHOAL_OK) {
        err = ingest_files(&acc, error, a, &recipe, buffer);
        if (err == SHOAL_OK) err = agg_accumulator_save_by(&acc, error, a->output, a->n_threads);
        agg_accumulator_release(&acc);
    }
    agg_recipe_release(&recipe);
    return err;
}

int cmd_ingest(int argc, char **argv)
{
    arguments a = {.n_threads = 1};
    agg_error error = {SHOAL_OK, AGG_EXIT_RUNTIME, ""};
    int help = 0;
    agg_err err = read_arguments(&a, &error, argc, argv, &help);
    if (err == SHOAL_OK && help)
        fputs(help_text, stdout);
    else if (err == SHOAL_OK)
        err = ingest(&error, &a);
    free(a.files);
    return err == SHOAL_OK ? AGG_EXIT_OK : cli_failed("ingest", &error);
}
