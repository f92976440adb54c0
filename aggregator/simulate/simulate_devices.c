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
#include "call_streams.h"
#include "event.h"
#include "input_memory.h"
#include "item_label.h"
#include "log.h"
#include "memory_option.h"
#include "print_text.h"
#include "recipe.h"
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
    for (uint32_t i = 0; i < count; i++, record += out->recipe->recipe->record_size) {
        agg_err err = agg_report_print(out->line, out->line_len - 1, out->recipe, record);
        if (err != SHOAL_OK) return agg_fail_core(error, err, AGG_EXIT_RUNTIME);
        if (fwrite(out->line, 1, out->line_len, out->stream) != out->line_len)
            return fail_write(error);
    }
    return SHOAL_OK;
}

static void print_count(FILE *stream, const char *bytes, size_t len, uint64_t count)
{
    fwrite(bytes, 1, len, stream);
    fprintf(stream, "\t%llu\n", (unsigned long long)count);
}

// Prints what the estimate of value i is about: the sum of its shares over the windows of the
// reports, and what that sum is on average over the crowd.
static void print_shares(FILE *stream, const agg_simulation *s, const agg_drawn *drawn, size_t i)
{
    const agg_text *value = &s->counts->values[i];
    fwrite(value->bytes, 1, value->len, stream);
    fputc('\t', stream);
    agg_print_number(stream,
                     (double)drawn->windows.shares[i] / (double)agg_windows_unit(s->windows));
    fputc('\t', stream);
    agg_print_number(stream,
                     (double)drawn->n_reports * agg_windows_share(s->windows, s->counts, i));
    fputc('\n', stream);
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
        if (drawn->windows.shares != NULL)
            print_shares(file.stream, s, drawn, i);
        else if (s->counts->kinds == NULL)
            print_count(file.stream, s->counts->values[i].bytes, s->counts->values[i].len,
                        drawn->counts[i]);
        else if (drawn->counts[i] > 0)
            print_count(file.stream, label, agg_recipe_label(label, sizeof label, s->recipe, i),
                        drawn->counts[i]);
    }
    return agg_file_commit(&file, error);
}

static void say_windows(const agg_drawn *drawn)
{
    char command[] = "simulate", text[256];
    const agg_window_tally *w = &drawn->windows;
    snprintf(text, sizeof text,
             "%s windows, %s with an event, %s never sent; %s reports, %s of them say "
             "that nothing happened",
             agg_whole(w->n_windows).text, agg_whole(w->n_active).text, agg_whole(w->n_lost).text,
             agg_whole(drawn->n_reports).text, agg_whole(drawn->n_nothing).text);
    agg_log_line(command, text);
}

static void say_drawn(const agg_simulation *s, const agg_drawn *drawn)
{
    char command[] = "simulate", text[192];
    if (s->windows != NULL) {
        say_windows(drawn);
        return;
    }
    if (drawn->n_outside > 0) {
        snprintf(text, sizeof text, "%s of %s devices belong to another part and send nothing here",
                 agg_whole(drawn->n_outside).text, agg_whole(s->n_devices).text);
        agg_log_line(command, text);
    }
    if (drawn->n_nothing > 0) {
        snprintf(
            text, sizeof text, "%s of %s contributions say that there is nothing to report",
            agg_whole(drawn->n_nothing).text,
            agg_whole((s->n_devices - drawn->n_outside) * s->recipe->recipe->contributions).text);
        agg_log_line(command, text);
    }
    if (drawn->n_random > 0) {
        snprintf(text, sizeof text,
                 "%s devices have no event that the query asks about, and answer at random",
                 agg_whole(drawn->n_random).text);
        agg_log_line(command, text);
    }
}

// Allocates what a simulation counts. Returns: whether there was memory.
static bool start_drawn(agg_drawn *drawn, agg_error *error, const agg_simulation *s)
{
    size_t n = agg_drawn_size(s);
    bool has_shares = s->windows != NULL && s->recipe->recipe->pick == SHOAL_PICK_UNIFORM;
    *drawn = (agg_drawn){.counts = agg_alloc(error, n, sizeof *drawn->counts)};
    if (drawn->counts == NULL || !has_shares) return drawn->counts != NULL;
    drawn->windows.shares = agg_alloc(error, n, sizeof *drawn->windows.shares);
    return drawn->windows.shares != NULL;
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
                        .windows = a->windows,
                        .n_threads = a->n_threads,
                        .day = a->day,
                        .is_batch_v1 = a->is_batch_v1,
                        .progress = agg_progress_show,
                        .progress_context = &progress};
    agg_drawn drawn;
    bool has_all = start_drawn(&drawn, error, &s);
    out.line = agg_alloc(error, out.line_len, 1);
    agg_err err = !has_all || out.line == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
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
    free(drawn.windows.shares);
    free(out.line);
    return err;
}

static agg_err simulate_file(agg_error *error, const simulate_devices_options *a,
                             const agg_recipe *recipe, const agg_dictionary *counts)
{
    agg_file file;
    if (strcmp(a->output, "-") == 0) return simulate_to(agg_out(), error, a, recipe, counts);
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
    const agg_simulation s = {.recipe = recipe,
                              .counts = counts,
                              .n_devices = a->n_devices,
                              .n_threads = a->n_threads,
                              .windows = a->windows};
    cli_counts_bytes bytes = cli_counts_memory(counts, a->counts);
    uint64_t drawn = agg_drawn_size(&s) * sizeof(uint64_t);
    if (a->windows != NULL) drawn *= a->openings != NULL ? 3 : 2;
    uint64_t running = agg_simulation_memory(&s) + drawn + agg_report_size(recipe) + 1;
    return cli_state_memory(error, command,
                            bytes.held + (bytes.reading > running ? bytes.reading : running),
                            a->memory_limit);
}

// ---- openings ----

typedef struct numbered_value {
    agg_text value;
    size_t number;
} numbered_value;

static int compare_values(const void *a, const void *b)
{
    return agg_text_compare(((const numbered_value *)a)->value, ((const numbered_value *)b)->value);
}

// Matches the openings to the counts by their values.
//   frequencies: by the numbers of the counts, zeros
static agg_err match_openings(uint64_t *frequencies, agg_error *error, const char *path,
                              const agg_dictionary *counts, const agg_dictionary *openings)
{
    numbered_value *index = agg_alloc(error, counts->n, sizeof *index);
    if (index == NULL) return AGG_ERR_MEMORY;
    for (size_t i = 0; i < counts->n; i++) index[i] = (numbered_value){counts->values[i], i};
    qsort(index, counts->n, sizeof *index, compare_values);
    agg_err err = SHOAL_OK;
    for (size_t i = 0; i < openings->n && err == SHOAL_OK; i++) {
        const numbered_value wanted = {openings->values[i], 0};
        const numbered_value *found =
            bsearch(&wanted, index, counts->n, sizeof *index, compare_values);
        if (found == NULL)
            err = agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                           "%s: value %zu is not in the counts file", path, i + 1);
        else
            frequencies[found->number] = openings->counts[i];
    }
    free(index);
    return err;
}

// Reads the frequencies of first events.
//   frequencies: NULL where there is no such file; to free
static agg_err read_openings(uint64_t **frequencies, agg_error *error, const agg_recipe *recipe,
                             const agg_dictionary *counts, const simulate_devices_options *a)
{
    char command[] = "simulate";
    agg_dictionary openings = {0};
    *frequencies = NULL;
    if (a->openings == NULL) return SHOAL_OK;
    agg_err err = agg_counts_load(&openings, error, recipe, a->openings, agg_log_line, command);
    if (err != SHOAL_OK) return err;
    *frequencies = agg_alloc(error, counts->n, sizeof **frequencies);
    err = *frequencies == NULL
              ? AGG_ERR_MEMORY
              : match_openings(*frequencies, error, a->openings, counts, &openings);
    agg_dictionary_release(&openings);
    return err;
}

agg_err simulate_devices(agg_error *error, const agg_recipe *recipe,
                         const simulate_devices_options *options)
{
    char command[] = "simulate";
    agg_dictionary counts = {0};
    agg_windows windows = {0};
    uint64_t *openings = NULL;
    simulate_devices_options a = *options;
    agg_err err = agg_counts_load(&counts, error, recipe, a.counts, agg_log_line, command);
    if (err == SHOAL_OK) err = read_openings(&openings, error, recipe, &counts, &a);
    if (a.windows != NULL) {
        windows = *a.windows;
        windows.openings = openings;
        a.windows = &windows;
    }
    if (err == SHOAL_OK) err = state_memory(error, &a, recipe, &counts);
    if (err == SHOAL_OK) err = simulate_file(error, &a, recipe, &counts);
    free(openings);
    agg_dictionary_release(&counts);
    return err;
}
