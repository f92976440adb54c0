// SPDX-License-Identifier: Apache-2.0
// Simulated reports in a file; see simulate_devices.h.
#include "simulate_devices.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_file.h"
#include "agg_size.h"
#include "batch.h"
#include "event.h"
#include "input_memory.h"
#include "item_label.h"
#include "log.h"
#include "memory_option.h"
#include "report_json.h"
#include "simulation.h"

typedef struct output {
    const agg_recipe *recipe;
    FILE *stream;
    char *line; // one NDJSON report and its newline
    size_t line_len;
} output;

static agg_err fail_write(agg_error *error)
{
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "cannot write the reports: %s",
                    strerror(errno));
}

static agg_err write_batch(void *context, agg_error *error, const uint8_t *batch, size_t len,
                           uint32_t count)
{
    output *out = context;
    (void)count;
    return fwrite(batch, 1, len, out->stream) == len ? SHOAL_OK : fail_write(error);
}

static agg_err write_reports(void *context, agg_error *error, const uint8_t *batch, size_t len,
                             uint32_t count)
{
    output *out = context;
    const uint8_t *record = batch + SHOAL_BATCH_HEADER;
    (void)len;
    for (uint32_t i = 0; i < count; i++, record += out->recipe->recipe.record_size) {
        agg_err err = agg_report_print(out->line, out->line_len - 1, out->recipe, record);
        if (err != SHOAL_OK) return agg_fail_core(error, err, AGG_EXIT_RUNTIME);
        if (fwrite(out->line, 1, out->line_len, out->stream) != out->line_len)
            return fail_write(error);
    }
    return SHOAL_OK;
}

static void print_truth(FILE *stream, const char *bytes, size_t len, uint64_t count)
{
    fwrite(bytes, 1, len, stream);
    fprintf(stream, "\t%llu\n", (unsigned long long)count);
}

// Writes every value of the counts file; if the domain has cells, those that a device drew.
static agg_err write_truth(const char *path, agg_error *error, const agg_simulation *s,
                           const agg_drawn *drawn)
{
    agg_file file;
    char label[AGG_CELL_LABEL_MAX];
    size_t n = agg_drawn_size(s);
    agg_err err = agg_file_create(&file, error, path);
    if (err != SHOAL_OK) return err;
    for (size_t i = 0; i < n; i++) {
        if (s->counts->kinds == NULL)
            print_truth(file.stream, s->counts->values[i].bytes, s->counts->values[i].len,
                        drawn->counts[i]);
        else if (drawn->counts[i] > 0)
            print_truth(file.stream, label, agg_recipe_label(label, sizeof label, s->recipe, i),
                        drawn->counts[i]);
    }
    return agg_file_commit(&file, error);
}

static void say_drawn(const agg_simulation *s, const agg_drawn *drawn)
{
    char command[] = "simulate", text[160];
    if (drawn->n_outside > 0) {
        snprintf(text, sizeof text,
                 "%llu of %llu devices belong to another part and send nothing here",
                 (unsigned long long)drawn->n_outside, (unsigned long long)s->n_devices);
        agg_log_line(command, text);
    }
    if (drawn->n_nothing > 0) {
        snprintf(text, sizeof text,
                 "%llu of %llu contributions say that there is nothing to report",
                 (unsigned long long)drawn->n_nothing,
                 (unsigned long long)(s->n_devices - drawn->n_outside) *
                     s->recipe->recipe.contributions);
        agg_log_line(command, text);
    }
    if (drawn->n_random > 0) {
        snprintf(text, sizeof text,
                 "%llu devices have no event that the query asks about, and answer at random",
                 (unsigned long long)drawn->n_random);
        agg_log_line(command, text);
    }
}

static agg_err simulate_to(FILE *stream, agg_error *error, const simulate_devices_options *a,
                           const agg_recipe *recipe, const agg_dictionary *counts)
{
    output out = {recipe, stream, NULL, agg_report_size(recipe) + 1};
    agg_progress progress;
    agg_simulation s = {.recipe = recipe,
                        .counts = counts,
                        .first = a->first,
                        .n_devices = a->n_devices,
                        .n_events = a->n_events,
                        .n_threads = a->n_threads,
                        .progress = agg_progress_show,
                        .progress_context = &progress};
    agg_drawn drawn = {agg_alloc(error, agg_drawn_size(&s), sizeof *drawn.counts), 0, 0, 0};
    out.line = agg_alloc(error, out.line_len, 1);
    agg_err err = drawn.counts == NULL || out.line == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
    agg_progress_start(&progress, "simulate", "devices", a->n_devices);
    if (err == SHOAL_OK) {
        out.line[out.line_len - 1] = '\n';
        agg_simulation_seed(s.seed, a->seed);
        err =
            agg_simulation_run(&drawn, error, &s, a->is_ndjson ? write_reports : write_batch, &out);
    }
    agg_progress_end(&progress);
    if (err == SHOAL_OK) say_drawn(&s, &drawn);
    if (err == SHOAL_OK && fflush(stream) != 0) err = fail_write(error);
    if (err == SHOAL_OK && a->truth != NULL) err = write_truth(a->truth, error, &s, &drawn);
    free(drawn.counts);
    free(out.line);
    return err;
}

static agg_err simulate_file(agg_error *error, const simulate_devices_options *a,
                             const agg_recipe *recipe, const agg_dictionary *counts)
{
    agg_file file;
    if (strcmp(a->output, "-") == 0) return simulate_to(stdout, error, a, recipe, counts);
    agg_err err = agg_file_create(&file, error, a->output);
    if (err != SHOAL_OK) return err;
    err = simulate_to(file.stream, error, a, recipe, counts);
    if (err == SHOAL_OK) return agg_file_commit(&file, error);
    agg_file_abandon(&file);
    return err;
}

// Reading the counts takes more memory than holding them, and for a large file more than all the
// rest.
static agg_err state_memory(agg_error *error, const simulate_devices_options *a,
                            const agg_recipe *recipe, const agg_dictionary *counts)
{
    char command[] = "simulate";
    const agg_simulation s = {.recipe = recipe, .counts = counts, .n_devices = a->n_devices};
    cli_counts_bytes bytes = cli_counts_memory(counts, a->counts);
    uint64_t running = agg_simulation_memory(&s) + agg_drawn_size(&s) * sizeof(uint64_t) +
                       agg_report_size(recipe) + 1;
    return cli_state_memory(error, command,
                            bytes.held + (bytes.reading > running ? bytes.reading : running),
                            a->memory_limit);
}

agg_err simulate_devices(agg_error *error, const agg_recipe *recipe,
                         const simulate_devices_options *options)
{
    char command[] = "simulate";
    agg_dictionary counts = {0};
    agg_err err = agg_counts_load(&counts, error, recipe, options->counts, agg_log_line, command);
    if (err == SHOAL_OK) err = state_memory(error, options, recipe, &counts);
    if (err == SHOAL_OK) err = simulate_file(error, options, recipe, &counts);
    agg_dictionary_release(&counts);
    return err;
}
