// SPDX-License-Identifier: Apache-2.0
// shoal simulate over epochs; see simulate_epochs.h.
#include "simulate_epochs.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agg_file.h"
#include "agg_size.h"
#include "log.h"
#include "memory_option.h"
#include "print_text.h"
#include "recipe.h"
#include "simulation.h"
#include "track_simulation.h"

#define PATH_EXTRA 32u // "/", a number, ".recipe.json", NUL

typedef struct writer {
    const char *folder;
    char *path; // room for the longest path
    size_t path_size;
    uint32_t n_updates;
} writer;

static agg_err fail_write(agg_error *error, const char *path)
{
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: cannot be written: %s", path,
                    strerror(errno));
}

// Simulated files are not synchronized to the disk: a run has thousands, and each can be made
// again.
static FILE *open_epoch(writer *out, agg_error *error, uint32_t epoch, const char *kind)
{
    snprintf(out->path, out->path_size, "%s/%04u.%s", out->folder, epoch, kind);
    FILE *stream = fopen(out->path, "wb");
    if (stream == NULL) fail_write(error, out->path);
    return stream;
}

static agg_err close_epoch(writer *out, agg_error *error, FILE *stream, agg_err err)
{
    bool is_written = !ferror(stream);
    if (fclose(stream) == 0 && is_written) return err;
    return err != SHOAL_OK ? err : fail_write(error, out->path);
}

static agg_err write_epoch(void *context, agg_error *error, const agg_recipe *recipe,
                           const agg_accumulator *acc)
{
    writer *out = context;
    uint32_t epoch = recipe->recipe->round_index;
    out->n_updates += recipe->recipe->round_update;
    FILE *stream = open_epoch(out, error, epoch, "recipe.json");
    if (stream == NULL) return AGG_ERR_IO;
    fwrite(recipe->json, 1, recipe->json_len, stream);
    agg_err err = close_epoch(out, error, stream, SHOAL_OK);
    if (err != SHOAL_OK) return err;
    stream = open_epoch(out, error, epoch, "acc");
    if (stream == NULL) return AGG_ERR_IO;
    return close_epoch(out, error, stream, agg_accumulator_write(stream, error, acc));
}

static void print_list(FILE *stream, const char *name, const double *numbers, uint32_t n)
{
    fprintf(stream, ",\n\"%s\":[", name);
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0) fputc(',', stream);
        agg_print_number(stream, numbers[i]);
    }
    fputc(']', stream);
}

static agg_err write_spent(writer *out, agg_error *error, const agg_recipe *recipe,
                           const track_spent *spent, uint64_t n_devices)
{
    agg_file file;
    char run[65];
    agg_hex(run, recipe->recipe->run_hash, 32);
    snprintf(out->path, out->path_size, "%s/simulation.json", out->folder);
    agg_err err = agg_file_create(&file, error, out->path);
    if (err != SHOAL_OK) return err;
    fprintf(file.stream, "{\"schema\":1,\"recipe\":\"%s\",\"run_hash\":\"%s\",\"devices\":%llu",
            recipe->id, run, (unsigned long long)n_devices);
    print_list(file.stream, "votes_spent", spent->votes_spent, spent->n);
    print_list(file.stream, "privacy", spent->privacy, spent->n);
    fputs("}\n", file.stream);
    return agg_file_commit(&file, error);
}

static agg_err prepare_folder(writer *out, agg_error *error)
{
    struct stat info;
    snprintf(out->path, out->path_size, "%s/0001.recipe.json", out->folder);
    if (stat(out->path, &info) == 0)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "%s exists: name another folder",
                        out->path);
    if (mkdir(out->folder, 0777) != 0 && errno != EEXIST) return fail_write(error, out->folder);
    return SHOAL_OK;
}

static void say_end(const writer *out, const track_spent *spent, uint64_t n_devices)
{
    char command[] = "simulate", text[200];
    snprintf(text, sizeof text,
             "%u epochs of %s devices, %u updates; %.4g %% of the devices have no vote left, the "
             "most that one has spent is epsilon %.6g",
             spent->n, agg_whole(n_devices).text, out->n_updates,
             100 * spent->votes_spent[spent->n - 1], spent->privacy[spent->n - 1]);
    agg_log_line(command, text);
}

static agg_err run(writer *out, agg_error *error, const agg_recipe *recipe,
                   const simulate_epochs_options *o, const epoch_counts *counts)
{
    char command[] = "simulate";
    agg_progress progress;
    track_spent spent;
    track_simulation s = {.recipe = recipe,
                          .counts = counts,
                          .n_devices = o->n_devices > 0 ? o->n_devices : recipe->recipe->users,
                          .n_epochs = o->n_epochs,
                          .n_threads = o->n_threads,
                          .sink = write_epoch,
                          .sink_context = out,
                          .progress = agg_progress_show,
                          .progress_context = &progress};
    agg_err err = cli_state_memory(error, command, track_simulation_memory(&s), o->memory_limit);
    if (err != SHOAL_OK) return err;
    agg_simulation_seed(s.seed, o->seed);
    agg_progress_start(&progress, "simulate", "epochs",
                       o->n_epochs > 0 ? o->n_epochs : recipe->recipe->epochs);
    err = track_simulation_run(&spent, error, &s);
    agg_progress_end(&progress);
    if (err != SHOAL_OK) return err;
    err = write_spent(out, error, recipe, &spent, s.n_devices);
    if (err == SHOAL_OK) say_end(out, &spent, s.n_devices);
    track_spent_release(&spent);
    return err;
}

agg_err simulate_epochs(agg_error *error, const agg_recipe *recipe,
                        const simulate_epochs_options *options)
{
    epoch_counts counts;
    writer out = {.folder = options->folder, .path_size = strlen(options->folder) + PATH_EXTRA};
    out.path = agg_alloc(error, out.path_size, 1);
    if (out.path == NULL) return AGG_ERR_MEMORY;
    agg_err err = epoch_counts_load(&counts, error, options->counts);
    if (err == SHOAL_OK) {
        err = prepare_folder(&out, error);
        if (err == SHOAL_OK) err = run(&out, error, recipe, options, &counts);
        epoch_counts_release(&counts);
    }
    free(out.path);
    return err;
}
