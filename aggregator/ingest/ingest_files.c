// SPDX-License-Identifier: Apache-2.0
// Files into an accumulator; see ingest_files.h.
#include "ingest_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "accumulator.h"
#include "batch_ids.h"
#include "folder.h"
#include "input_memory.h"
#include "log.h"
#include "memory_option.h"
#include "reader.h"

#define LEAST_BUFFER ((size_t)64 << 10) // below it --memory is refused

typedef struct ingesting {
    agg_folder folder;
    agg_batch_ids ids;
    uint64_t n_repeated;
    agg_lock guard; // of the two, where threads take runs at the same time
} ingesting;

// Notes a batch. *is_fresh: whether it was not there yet, and is to be counted.
static agg_err note_batch(ingesting *in, agg_error *error, const agg_run *run, bool *is_fresh)
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
        bool is_fresh = false;
        agg_err err = note_batch(in, error, &runs[i], &is_fresh);
        if (err != SHOAL_OK) return err;
        if (is_fresh) fresh[n_fresh++] = (agg_folder_run){runs[i].records, runs[i].count};
    }
    return agg_folder_add_runs(&in->folder, error, fresh, n_fresh);
}

// The same on several threads, each with a lane of the folder.
static agg_err take_run(void *context, agg_error *error, unsigned part, const agg_run *run)
{
    ingesting *in = context;
    const agg_folder_run records = {run->records, run->count};
    bool is_fresh = false;
    agg_lock_take(&in->guard);
    agg_err err = note_batch(in, error, run, &is_fresh);
    agg_lock_leave(&in->guard);
    return err == SHOAL_OK && is_fresh ? agg_folder_add_as(&in->folder, error, part, &records)
                                       : err;
}

static agg_err ingest_file(ingesting *in, agg_error *error, const agg_ingest_options *a,
                           const agg_recipe *recipe, const char *path)
{
    char text[512], command[] = "ingest";
    agg_read_count count = {0, 0, 0, 0, 0};
    agg_progress progress;
    agg_progress_start(&progress, command, "bytes", cli_file_bytes(path));
    agg_reader reader = {recipe,  take_records,      in,        agg_log_line,
                         command, agg_progress_show, &progress, a->n_threads};
    agg_share share =
        a->n_threads > 1 && agg_folder_workers(&in->folder) >= a->n_threads ? take_run : NULL;
    agg_err err =
        agg_reader_file_shared(&count, error, &reader, share, agg_folder_span(&in->folder), path);
    agg_progress_end(&progress);
    if (err != SHOAL_OK || count.rejected == 0) return err;
    snprintf(text, sizeof text, "%s: %llu of %llu lines were rejected",
             strcmp(path, "-") == 0 ? "standard input" : path, (unsigned long long)count.rejected,
             (unsigned long long)count.lines);
    if ((double)count.rejected > a->max_rejected * (double)count.lines)
        return agg_fail(error, AGG_ERR_REJECTED, AGG_EXIT_REJECTED,
                        "%s, more than a share of %g; nothing was written", text, a->max_rejected);
    agg_log_line(command, text);
    return SHOAL_OK;
}

// Bytes that all files hold: no record takes fewer there than in memory. UINT64_MAX where one is a
// pipe.
static uint64_t input_bytes(const agg_ingest_options *a)
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
static uint64_t fixed_bytes(const agg_accumulator *acc, const agg_ingest_options *a,
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
                           const agg_ingest_options *a, const agg_recipe *recipe)
{
    char command[] = "ingest";
    uint64_t fixed = fixed_bytes(acc, a, recipe), input = input_bytes(a), bytes = 0;
    agg_folder_memory folder = agg_folder_memory_of(acc, 0, a->n_threads);
    *buffer = (size_t)(input < folder.buffer ? input : folder.buffer);
    for (;; *buffer -= *buffer / 8) {
        folder = agg_folder_memory_of(acc, *buffer, a->n_threads);
        bytes = fixed + folder.buffer + folder.beside;
        bool fits = a->memory_limit == 0 || bytes + CLI_PROGRAM_BYTES <= a->memory_limit;
        if (fits || *buffer < LEAST_BUFFER) break;
    }
    return cli_state_memory(error, command, bytes, a->memory_limit);
}

static agg_err ingest_files(agg_accumulator *acc, agg_error *error, const agg_ingest_options *a,
                            const agg_recipe *recipe, size_t buffer)
{
    char text[128], command[] = "ingest";
    ingesting in = {.folder = {.acc = NULL}};
    if (!agg_lock_init(&in.guard))
        return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "no lock for the threads");
    agg_err err = agg_folder_init(&in.folder, error, acc, buffer, a->n_threads);
    for (int i = 0; i < a->n_files && err == SHOAL_OK; i++)
        err = ingest_file(&in, error, a, recipe, a->files[i]);
    if (err == SHOAL_OK) err = agg_folder_flush(&in.folder, error);
    if (err == SHOAL_OK && in.n_repeated > 0) {
        snprintf(text, sizeof text, "%llu batches came more than once and were counted once",
                 (unsigned long long)in.n_repeated);
        agg_log_line(command, text);
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
    err = agg_accumulator_check_recipe(acc, error, recipe->recipe);
    if (err == SHOAL_OK) return SHOAL_OK;
    agg_error_prefix(error, "%s", path);
    agg_accumulator_release(acc);
    return err;
}

// Makes an empty accumulator, or loads the one to append to. Memory is planned before anything is
// written to it.
static agg_err open_accumulator(agg_accumulator *acc, size_t *buffer, agg_error *error,
                                const agg_ingest_options *a, const agg_recipe *recipe)
{
    bool exists = strcmp(a->output, "-") != 0 && access(a->output, F_OK) == 0;
    if (exists && !a->is_appending)
        return agg_fail(error, SHOAL_ERR_DUPLICATE, AGG_EXIT_USAGE,
                        "%s exists; --append adds to it", a->output);
    agg_err err = agg_accumulator_init(acc, error, recipe->recipe);
    if (err != SHOAL_OK) return err;
    err = plan_memory(buffer, error, acc, a, recipe);
    if (err == SHOAL_OK && !exists) return SHOAL_OK;
    agg_accumulator_release(acc);
    return err == SHOAL_OK ? load_accumulator(acc, error, a->output, recipe) : err;
}

agg_err agg_ingest_files(agg_error *error, const agg_ingest_options *options)
{
    const agg_ingest_options *a = options;
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
