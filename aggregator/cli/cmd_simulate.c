// SPDX-License-Identifier: Apache-2.0
// shoal simulate: devices drawn from a counts file, as batches or NDJSON reports.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_file.h"
#include "agg_size.h"
#include "batch.h"
#include "commands.h"
#include "event.h"
#include "input_memory.h"
#include "item_label.h"
#include "log.h"
#include "memory_option.h"
#include "options.h"
#include "report_json.h"
#include "simulate_epochs.h"
#include "simulation.h"

static const char help_text[] =
    "Usage: shoal simulate --recipe R --counts FILE --devices N --seed S -o OUT\n"
    "       shoal simulate --recipe R --counts FILE --seed S -o FOLDER        a run over epochs\n\n"
    "Draws N devices with replacement from a counts file and privatizes each as a real device "
    "would.\n"
    "The same recipe, counts, N and seed give the same bytes, whatever the number of threads.\n\n"
    "  --recipe FILE      the collection's recipe (JSON)\n"
    "  --counts FILE      value<TAB>count lines; of a recipe with an encoding the value is an "
    "event,\n"
    "                     a JSON object: {\"phrase\":\"i went home\",\"age\":34}<TAB>count; of a "
    "trie\n"
    "                     plain words will do; of a joint recipe a value of each variable, with "
    "tabs\n"
    "                     between: news<TAB>young<TAB>count; of thresh and heavythresh\n"
    "                     epoch<TAB>value<TAB>count, with a group behind where groups change "
    "apart;\n"
    "                     an epoch without lines is like the one before\n"
    "  --devices N        how many devices, 1 to 10^12; of a run over epochs its users by default\n"
    "  --epochs T         of a run over epochs, the first T only\n"
    "  --seed TEXT        any text; rounds of queries with one seed meet the same people with the "
    "same events\n"
    "  --first I          number of the first device, default 0: devices I to I+N-1\n"
    "  --events K         events (words) of one device, of a recipe with an encoding; default 1\n"
    "  -o, --output FILE  where the reports go; - is standard output; of a run over epochs a "
    "folder for\n"
    "                     its recipes and accumulators, which shoal track reads\n"
    "  --truth FILE       writes value<TAB>count of what was really drawn; with an encoding the "
    "cells' labels,\n"
    "                     of a trie the contributions to each\n"
    "  --format FORMAT    batch (default) or ndjson\n"
    "  --threads T        default: all cores\n"
    "  --memory SIZE      refuse to take more than this, as 256M or 2G; without it, what is taken "
    "is said where\n"
    "                     it is much\n";

typedef struct arguments {
    const char *recipe, *counts, *devices, *seed, *output, *truth, *format, *threads, *first,
        *events, *epochs, *memory;
    uint64_t n_devices, n_first, n_events, n_epochs, memory_limit; // 0: none
    unsigned n_threads;
    int is_ndjson;
} arguments;

static agg_err read_arguments(arguments *a, agg_error *error, int argc, char **argv, int *help)
{
    const cli_option options[] = {{"recipe", 0, &a->recipe, NULL},
                                  {"counts", 0, &a->counts, NULL},
                                  {"devices", 0, &a->devices, NULL},
                                  {"seed", 0, &a->seed, NULL},
                                  {"output", 'o', &a->output, NULL},
                                  {"truth", 0, &a->truth, NULL},
                                  {"format", 0, &a->format, NULL},
                                  {"threads", 0, &a->threads, NULL},
                                  {"first", 0, &a->first, NULL},
                                  {"events", 0, &a->events, NULL},
                                  {"epochs", 0, &a->epochs, NULL},
                                  {"memory", 0, &a->memory, NULL},
                                  {NULL, 0, NULL, NULL}};
    agg_err err = cli_options_read_only(options, error, argc, argv, help);
    if (err != SHOAL_OK || *help) return err;
    const char *const needed[] = {"recipe", "counts", "seed", "output"};
    const char *const given[] = {a->recipe, a->counts, a->seed, a->output};
    for (int i = 0; i < 4 && err == SHOAL_OK; i++) err = cli_need(error, needed[i], given[i]);
    if (err == SHOAL_OK && a->devices != NULL)
        err = cli_read_whole(&a->n_devices, error, "devices", a->devices, 1, 1000000000000u);
    if (err == SHOAL_OK && a->first != NULL)
        err = cli_read_whole(&a->n_first, error, "first", a->first, 0, 1000000000000u);
    if (err == SHOAL_OK && a->epochs != NULL)
        err = cli_read_whole(&a->n_epochs, error, "epochs", a->epochs, 1, SHOAL_EPOCHS_MAX + 1);
    a->n_events = 1;
    if (err == SHOAL_OK && a->events != NULL)
        err = cli_read_whole(&a->n_events, error, "events", a->events, 1, AGG_EVENTS_MAX);
    if (err == SHOAL_OK) err = cli_read_threads(&a->n_threads, error, a->threads);
    if (err == SHOAL_OK) err = cli_read_memory(&a->memory_limit, error, a->memory);
    if (err != SHOAL_OK) return err;
    a->is_ndjson = a->format != NULL && strcmp(a->format, "ndjson") == 0;
    if (a->format != NULL && !a->is_ndjson && strcmp(a->format, "batch") != 0)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "--format is batch or ndjson");
    return SHOAL_OK;
}

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

// Every value of the file; of a domain of cells those that anyone is in.
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
                 "%llu of %llu devices are of another part and send nothing here",
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
                 "%llu devices have no event that the query is about and answer at random",
                 (unsigned long long)drawn->n_random);
        agg_log_line(command, text);
    }
}

static agg_err simulate_to(FILE *stream, agg_error *error, const arguments *a,
                           const agg_recipe *recipe, const agg_dictionary *counts)
{
    output out = {recipe, stream, NULL, agg_report_size(recipe) + 1};
    agg_progress progress;
    agg_simulation s = {.recipe = recipe,
                        .counts = counts,
                        .first = a->n_first,
                        .n_devices = a->n_devices,
                        .n_events = (uint32_t)a->n_events,
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

static agg_err simulate_file(agg_error *error, const arguments *a, const agg_recipe *recipe,
                             const agg_dictionary *counts)
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

// Counts that are being read take more than they do later; a large file of them takes more than all
// the rest.
static agg_err state_memory(agg_error *error, const arguments *a, const agg_recipe *recipe,
                            const agg_dictionary *counts)
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

// A run over epochs, whose devices live through them.
static agg_err simulate_run(agg_error *error, const arguments *a, const agg_recipe *recipe)
{
    const simulate_epochs_options options = {
        a->counts,    a->seed,        a->output, a->n_devices, (uint32_t)a->n_epochs,
        a->n_threads, a->memory_limit};
    if (a->first != NULL || a->events != NULL || a->truth != NULL || a->format != NULL)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "--first, --events, --truth and --format do not go with a run over epochs");
    return simulate_epochs(error, recipe, &options);
}

static agg_err simulate(char *command, agg_error *error, const arguments *a,
                        const agg_recipe *recipe)
{
    agg_dictionary counts = {0};
    if (recipe->recipe.epochs > 0) return simulate_run(error, a, recipe);
    agg_err err = cli_need(error, "devices", a->devices);
    if (err == SHOAL_OK && a->epochs != NULL)
        err = agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                       "--epochs goes with recipes of thresh and heavythresh");
    if (err == SHOAL_OK && a->events != NULL && recipe->recipe.encoding.n_fields == 0)
        err = agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                       "--events goes with recipes that have an encoding");
    if (err == SHOAL_OK)
        err = agg_counts_load(&counts, error, recipe, a->counts, agg_log_line, command);
    if (err == SHOAL_OK) err = state_memory(error, a, recipe, &counts);
    if (err == SHOAL_OK) err = simulate_file(error, a, recipe, &counts);
    agg_dictionary_release(&counts);
    return err;
}

int cmd_simulate(int argc, char **argv)
{
    arguments a = {0};
    agg_error error = {SHOAL_OK, AGG_EXIT_RUNTIME, ""};
    agg_recipe recipe = {0};
    int help = 0;
    agg_err err = read_arguments(&a, &error, argc, argv, &help);
    if (err == SHOAL_OK && help) {
        fputs(help_text, stdout);
        return AGG_EXIT_OK;
    }
    if (err == SHOAL_OK) err = agg_recipe_from_file(&recipe, &error, a.recipe);
    if (err == SHOAL_OK) err = simulate(argv[0], &error, &a, &recipe);
    agg_recipe_release(&recipe);
    return err == SHOAL_OK ? AGG_EXIT_OK : agg_log_error("simulate", &error);
}
