// SPDX-License-Identifier: Apache-2.0
// Files into an accumulator; see ingest_files.h.
#include "ingest_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "accumulator.h"
#include "agg_file.h"
#include "agg_size.h"
#include "batch_ids.h"
#include "call_streams.h"
#include "copies.h"
#include "file_lock.h"
#include "folder.h"
#include "input_memory.h"
#include "input_print.h"
#include "log.h"
#include "memory_option.h"
#include "read_window.h"
#include "reader.h"
#include "shard_input.h"

#define LEAST_BUFFER ((size_t)64 << 10) // below it --memory is refused

typedef struct ingesting {
    const agg_ingest_options *options;
    const agg_claims *held; // what the accumulator counts from before
    const char *path;       // of the file that is read
    agg_folder folder;
    agg_shard_input *shard; // NULL where no manifest says what is to be folded
    agg_batch_ids ids;      // claims of this call
    uint64_t n_repeated, n_held;
    agg_lock guard;               // of these three, where threads take runs at the same time
    agg_copies *copies;           // a table for each thread
    uint8_t (*prints)[AGG_CLAIM]; // the claim of each file; zeros where it holds batches
} ingesting;

static const char *name_of(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

// Notes that this call counts an id.
// Returns: SHOAL_ERR_OVERFLOW where the accumulator could not list it.
static agg_err note_id(ingesting *in, agg_error *error, const uint8_t id[AGG_CLAIM],
                       bool *was_there)
{
    agg_err err = agg_batch_ids_add(&in->ids, error, id, was_there);
    return err == SHOAL_OK ? agg_claims_check_room(error, in->held->n + in->ids.n) : err;
}

// Notes a batch. *is_fresh: whether it was not there yet, and is to be counted.
static agg_err note_batch(ingesting *in, agg_error *error, const agg_run *run, bool *is_fresh)
{
    char text[AGG_CLAIM_TEXT];
    bool was_there = false;
    *is_fresh = true;
    if (in->shard != NULL)
        return agg_shard_input_take(in->shard, error, run, name_of(in->path), is_fresh);
    if (run->batch_id == NULL) return SHOAL_OK;
    if (agg_claims_have(in->held, run->batch_id)) {
        *is_fresh = false;
        in->n_held++;
        if (in->options->skips_held) return SHOAL_OK;
        return agg_fail(error, SHOAL_ERR_DUPLICATE, AGG_EXIT_RUNTIME,
                        "%s: %s counts batch %s already; nothing was written (--skip-held leaves "
                        "out what it counts)",
                        name_of(in->path), in->options->output,
                        agg_claim_print(text, run->batch_id));
    }
    agg_err err = note_id(in, error, run->batch_id, &was_there);
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
        if (!is_fresh) continue;
        fresh[n_fresh++] = (agg_folder_run){runs[i].records, runs[i].count};
        agg_copies_add(&in->copies[0], runs[i].records, runs[i].count);
    }
    return agg_folder_add_runs(&in->folder, error, fresh, n_fresh);
}

// Folds a run on one of several threads.
static agg_err take_run(void *context, agg_error *error, unsigned part, const agg_run *run)
{
    ingesting *in = context;
    const agg_folder_run records = {run->records, run->count};
    bool is_fresh = false;
    agg_lock_take(&in->guard);
    agg_err err = note_batch(in, error, run, &is_fresh);
    agg_lock_leave(&in->guard);
    if (err != SHOAL_OK || !is_fresh) return err;
    agg_copies_add(&in->copies[part], run->records, run->count);
    return agg_folder_add_as(&in->folder, error, part, &records);
}

// ---- files of reports ----

static const char *file_with_print(const ingesting *in, const uint8_t id[AGG_CLAIM])
{
    int i = 0;
    while (i + 1 < in->options->n_files && memcmp(in->prints[i], id, AGG_CLAIM) != 0) i++;
    return name_of(in->options->files[i]);
}

// Refuses a file of reports that is counted already, or says that it is left out.
//   *is_held: whether it is counted already
//   may_skip: false where its reports were folded already
static agg_err check_print(ingesting *in, agg_error *error, bool *is_held,
                           const uint8_t id[AGG_CLAIM], const char *path, bool may_skip)
{
    char text[512], claim[AGG_CLAIM_TEXT], command[] = "ingest";
    bool is_counted = agg_claims_have(in->held, id), is_repeated = agg_batch_ids_have(&in->ids, id);
    *is_held = is_counted || is_repeated;
    if (!*is_held) return SHOAL_OK;
    if (in->options->skips_held && may_skip) {
        snprintf(text, sizeof text, "%s is counted already and was left out", name_of(path));
        agg_log_line(command, text);
        return SHOAL_OK;
    }
    if (is_repeated)
        return agg_fail(error, SHOAL_ERR_DUPLICATE, AGG_EXIT_RUNTIME,
                        "%s and %s hold the same reports; nothing was written",
                        file_with_print(in, id), name_of(path));
    return agg_fail(error, SHOAL_ERR_DUPLICATE, AGG_EXIT_RUNTIME,
                    "%s: %s counts this file of reports (%s) already; nothing was written%s",
                    name_of(path), in->options->output, agg_claim_print(claim, id),
                    may_skip ? " (--skip-held leaves out what it counts)" : "");
}

// Notes a file of reports after it was read.
static agg_err note_print(ingesting *in, agg_error *error, const agg_read_count *count,
                          const agg_input_print *print, int index)
{
    const char *path = in->options->files[index];
    bool is_held = false, was_there = false;
    if (count->batches > 0 || count->records == 0) return SHOAL_OK;
    if (print->len != count->bytes)
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: changed while it was read",
                        name_of(path));
    agg_input_print_claim(in->prints[index], print);
    agg_err err = check_print(in, error, &is_held, in->prints[index], path, false);
    return err == SHOAL_OK ? note_id(in, error, in->prints[index], &was_there) : err;
}

static agg_err read_pipe(agg_read_count *count, agg_error *error, const agg_reader *reader,
                         agg_input_print *print, const char *path)
{
    agg_read_window window;
    bool is_input = strcmp(path, "-") == 0;
    FILE *stream = is_input ? agg_in(error) : fopen(path, "rb");
    if (stream == NULL && is_input) return AGG_ERR_USAGE;
    if (stream == NULL)
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: cannot open: %s", path,
                        strerror(errno));
    agg_input_print_init(print);
    agg_read_window_open(&window, stream, false);
    window.print = print;
    agg_err err = agg_reader_window(count, error, reader, name_of(path), NULL, 0, &window);
    if (!is_input) fclose(stream);
    return err;
}

// Reads a file, unless the accumulator counts its reports already and they may be left out.
//   *is_held: whether they were left out
static agg_err read_input(ingesting *in, agg_error *error, agg_read_count *count, bool *is_held,
                          const agg_reader *reader, agg_input_print *print, const char *path)
{
    uint8_t id[AGG_CLAIM];
    bool has_lines = false;
    agg_share share = reader->n_threads > 1 && agg_folder_workers(&in->folder) >= reader->n_threads
                          ? take_run
                          : NULL;
    *is_held = false;
    if (cli_file_bytes(path) == 0) return read_pipe(count, error, reader, print, path);
    agg_err err = agg_input_print_of_file(print, &has_lines, error, path);
    if (err == SHOAL_OK && has_lines) {
        agg_input_print_claim(id, print);
        err = check_print(in, error, is_held, id, path, true);
    }
    if (err != SHOAL_OK || *is_held) return err;
    return agg_reader_file_shared(count, error, reader, share, agg_folder_span(&in->folder), path);
}

static agg_err ingest_file(ingesting *in, agg_error *error, const agg_recipe *recipe, int index)
{
    const agg_ingest_options *a = in->options;
    const char *path = a->files[index];
    char text[512], command[] = "ingest";
    bool is_held = false;
    in->path = path;
    agg_input_print print;
    agg_read_count count = {0, 0, 0, 0, 0};
    agg_progress progress;
    agg_progress_start(&progress, command, "bytes", cli_file_bytes(path));
    agg_reader reader = {recipe,  take_records,      in,        agg_log_line,
                         command, agg_progress_show, &progress, a->n_threads};
    agg_err err = read_input(in, error, &count, &is_held, &reader, &print, path);
    agg_progress_end(&progress);
    if (err == SHOAL_OK && !is_held) err = note_print(in, error, &count, &print, index);
    if (err != SHOAL_OK || count.rejected == 0) return err;
    snprintf(text, sizeof text, "%s: %llu of %llu lines were rejected", name_of(path),
             (unsigned long long)count.rejected, (unsigned long long)count.lines);
    if ((double)count.rejected > a->max_rejected * (double)count.lines)
        return agg_fail(error, AGG_ERR_REJECTED, AGG_EXIT_REJECTED,
                        "%s, more than a share of %g; nothing was written", text, a->max_rejected);
    agg_log_line(command, text);
    return SHOAL_OK;
}

// Bytes that all files hold: no record takes fewer there than in memory. UINT64_MAX where one is a
// pipe or compressed.
static uint64_t input_bytes(const agg_ingest_options *a)
{
    uint64_t sum = 0;
    for (int i = 0; i < a->n_files; i++) {
        uint64_t size = cli_plain_bytes(a->files[i]);
        if (size == 0) return UINT64_MAX;
        sum += size;
    }
    return sum;
}

// The ids of this call and of the accumulator's, and both together when they are united.
static uint64_t claims_bytes(const agg_ingest_options *a)
{
    agg_claims_about held = {.n = 0};
    agg_error ignored;
    uint64_t n = cli_input_claims(a->files, a->n_files);
    if (a->is_appending && cli_file_bytes(a->output) > 0 &&
        agg_accumulator_peek_claims(&held, &ignored, a->output) != SHOAL_OK)
        held.n = 0;
    if (n > AGG_CLAIMS_MAX) n = AGG_CLAIMS_MAX;
    return agg_batch_ids_memory(n) + AGG_CLAIM * (n + 2 * (n + held.n));
}

// What is taken beside the folder, of an empty accumulator of the recipe.
static uint64_t fixed_bytes(const agg_accumulator *acc, const agg_ingest_options *a,
                            const agg_recipe *recipe)
{
    uint64_t input = input_bytes(a),
             bytes =
                 cli_reader_memory(a->files, a->n_files, recipe, a->n_threads) + claims_bytes(a);
    bytes += a->n_threads * agg_copies_memory(recipe->recipe);
    if (a->manifest != NULL) bytes += 2 * cli_file_bytes(a->manifest); // and what came of it
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

static agg_err open_copies(ingesting *in, agg_error *error, const agg_recipe *recipe)
{
    agg_err err = SHOAL_OK;
    unsigned n = in->options->n_threads;
    in->copies = agg_alloc(error, n, sizeof *in->copies);
    if (in->copies == NULL) return AGG_ERR_MEMORY;
    for (unsigned i = 0; i < n && err == SHOAL_OK; i++)
        err = agg_copies_init(&in->copies[i], error, recipe->recipe);
    return err;
}

static void release_copies(ingesting *in)
{
    for (unsigned i = 0; in->copies != NULL && i < in->options->n_threads; i++)
        agg_copies_release(&in->copies[i]);
    free(in->copies);
}

static void say_counts(ingesting *in)
{
    char text[128], line[AGG_COPIES_LINE_MAX], command[] = "ingest";
    for (unsigned i = 1; i < in->options->n_threads; i++)
        agg_copies_merge(&in->copies[0], &in->copies[i]);
    if (agg_copies_line(line, &in->copies[0])) agg_log_line(command, line);
    if (in->n_repeated > 0) {
        snprintf(text, sizeof text, "%llu batches came more than once and were counted once",
                 (unsigned long long)in->n_repeated);
        agg_log_line(command, text);
    }
    if (in->n_held > 0) {
        snprintf(text, sizeof text, "%llu batches were counted already and were left out",
                 (unsigned long long)in->n_held);
        agg_log_line(command, text);
    }
}

// Folds the files and claims what they hold.
static agg_err fold_files(ingesting *in, agg_accumulator *acc, agg_error *error,
                          const agg_recipe *recipe)
{
    agg_err err = SHOAL_OK;
    for (int i = 0; i < in->options->n_files && err == SHOAL_OK; i++)
        err = ingest_file(in, error, recipe, i);
    if (err == SHOAL_OK) err = agg_folder_flush(&in->folder, error);
    if (err != SHOAL_OK) return err;
    if (in->shard != NULL) {
        in->n_repeated = in->shard->n_repeated;
        err = agg_shard_input_check_all(in->shard, error);
        return err == SHOAL_OK ? agg_accumulator_claim_shards(acc, error, &in->shard->claims) : err;
    }
    agg_batch_ids_pack(&in->ids);
    return agg_accumulator_claim(acc, error, (const uint8_t(*)[AGG_CLAIM])in->ids.ids, in->ids.n);
}

static agg_err ingest_files(agg_accumulator *acc, agg_error *error, const agg_ingest_options *a,
                            const agg_recipe *recipe, agg_shard_input *shard, size_t buffer)
{
    ingesting in = {.options = a, .held = &acc->claims, .shard = shard};
    if (!agg_lock_init(&in.guard))
        return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "no lock for the threads");
    in.prints = agg_alloc(error, (size_t)a->n_files, sizeof *in.prints);
    agg_err err = in.prints != NULL ? SHOAL_OK : AGG_ERR_MEMORY;
    if (err == SHOAL_OK) err = open_copies(&in, error, recipe);
    if (err == SHOAL_OK) err = agg_folder_init(&in.folder, error, acc, buffer, a->n_threads);
    if (err == SHOAL_OK) err = fold_files(&in, acc, error, recipe);
    if (err == SHOAL_OK) say_counts(&in);
    agg_folder_release(&in.folder);
    agg_batch_ids_release(&in.ids);
    agg_lock_release(&in.guard);
    release_copies(&in);
    free(in.prints);
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

// Returns: whether the output is written into and holds nothing that could be added to.
static bool is_stream(const char *output)
{
    return strcmp(output, "-") == 0 || agg_file_is_special(output);
}

// Makes an empty accumulator, or loads the one to append to. Memory is planned before anything is
// written to it.
static agg_err open_accumulator(agg_accumulator *acc, size_t *buffer, agg_error *error,
                                const agg_ingest_options *a, const agg_recipe *recipe)
{
    bool exists = !is_stream(a->output) && access(a->output, F_OK) == 0;
    if (exists && !a->is_appending && a->manifest != NULL)
        return agg_fail(error, SHOAL_ERR_DUPLICATE, AGG_EXIT_USAGE,
                        "%s exists, and is not what shard %u/%u of %s gives: remove it, or "
                        "--append to it",
                        a->output, a->shard, a->n_shards, a->manifest);
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

// Warns that reports which are counted already may be counted again, as far as the claims say.
static void say_unclaimed(const agg_accumulator *acc, const char *path)
{
    char text[512], command[] = "ingest";
    if (agg_accumulator_is_claimed(acc)) return;
    snprintf(text, sizeof text,
             "%s does not list %s: what comes twice cannot be found among those reports", path,
             acc->claims.n > 0 ? "all that it counts" : "what it counts");
    agg_log_line(command, text);
}

static agg_err ingest(agg_error *error, const agg_ingest_options *a, const agg_recipe *recipe,
                      agg_shard_input *shard)
{
    agg_accumulator acc;
    size_t buffer = 0;
    agg_err err = open_accumulator(&acc, &buffer, error, a, recipe);
    if (err != SHOAL_OK) return err;
    if (shard != NULL) {
        err = agg_accumulator_check_shards(&acc, error, &shard->claims);
        if (err != SHOAL_OK)
            agg_error_prefix(error, "%s and shard %u/%u of %s", a->output, a->shard, a->n_shards,
                             a->manifest);
    } else {
        say_unclaimed(&acc, a->output);
        agg_accumulator_begin_claims(&acc);
    }
    if (err == SHOAL_OK) err = ingest_files(&acc, error, a, recipe, shard, buffer);
    if (err == SHOAL_OK) err = agg_accumulator_save_by(&acc, error, a->output, a->n_threads);
    agg_accumulator_release(&acc);
    return err;
}

// Finds whether the output counts the shard already, and nothing else unless it is appended to: an
// earlier run ended well. A file that cannot be read whole is not such a file.
static bool is_done(const agg_ingest_options *a, const agg_recipe *recipe,
                    const agg_shard_input *shard)
{
    char text[512], command[] = "ingest";
    agg_accumulator acc;
    agg_error ignored;
    if (is_stream(a->output) || cli_file_bytes(a->output) == 0 ||
        (a->is_appending && !a->skips_held) ||
        load_accumulator(&acc, &ignored, a->output, recipe) != SHOAL_OK)
        return false;
    bool is = agg_shard_claims_equal(&acc.shards, &shard->claims);
    if (a->is_appending) is = agg_shard_claims_hold(&acc.shards, &shard->claims);
    agg_accumulator_release(&acc);
    snprintf(text, sizeof text, "%s counts shard %u/%u of %s already and was left as it is",
             a->output, a->shard, a->n_shards, a->manifest);
    if (is) agg_log_line(command, text);
    return is;
}

static agg_err ingest_shard(agg_error *error, const agg_ingest_options *a, const agg_recipe *recipe)
{
    agg_shard_input shard;
    agg_err err = agg_shard_input_open(&shard, error, recipe, a->manifest, a->shard, a->n_shards);
    if (err == SHOAL_OK && !is_done(a, recipe, &shard)) err = ingest(error, a, recipe, &shard);
    agg_shard_input_release(&shard);
    return err;
}

agg_err agg_ingest_files(agg_error *error, const agg_ingest_options *options)
{
    char command[] = "ingest";
    agg_recipe recipe;
    agg_file_lock lock;
    agg_err err = agg_recipe_from_file(&recipe, error, options->recipe);
    if (err != SHOAL_OK) return err;
    err = agg_file_lock_take(&lock, error, command, options->output);
    if (err == SHOAL_OK) {
        err = options->manifest != NULL ? ingest_shard(error, options, &recipe)
                                        : ingest(error, options, &recipe, NULL);
        agg_file_lock_release(&lock);
    }
    agg_recipe_release(&recipe);
    return err;
}
