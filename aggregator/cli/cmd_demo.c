// SPDX-License-Identifier: Apache-2.0
// shoal demo: devices, aggregator and analyst in one process, with the truth beside the estimates.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accumulator.h"
#include "agg_size.h"
#include "batch.h"
#include "commands.h"
#include "estimate.h"
#include "folder.h"
#include "input_memory.h"
#include "log.h"
#include "memory_option.h"
#include "options.h"
#include "print_text.h"
#include "simulation.h"

static const char help_text[] =
    "Usage: shoal demo [--counts FILE] [--devices N] [--seed S]\n\n"
    "Simulates devices, folds their private records and estimates the counts, and prints\n"
    "estimates, intervals and the truth side by side. Nothing is written.\n\n"
    "  --counts FILE   value<TAB>count lines; default: a shoal of 1,000 made-up kinds\n"
    "  --devices N     default 200000\n"
    "  --seed TEXT     default demo\n"
    "  --top N         default 20\n"
    "  --threads T     default: all cores\n"
    "  --memory SIZE   refuse to take more than this, as 256M or 2G; without it, what is\n"
    "                  taken is said where it is much\n";

static const char recipe_text[] =
    "{\"recipe\":\"demo\",\"analysis\":\"demo\",\"stream\":\"demo\",\"value\":\"item\","
    "\"mechanism\":\"cms\","
    "\"parameters\":{\"epsilon\":4,\"k\":2048,\"m\":1024},\"hash\":\"poly1\","
    "\"seed\":\"73686f616c2064656d6f2073686f616c2064656d6f2073686f616c2064656d6f\","
    "\"limit\":{\"per_day\":1},\"expires\":\"2099-12-31\"}";

static const char *const fishes[] = {
    "herring", "mackerel", "sardine", "anchovy", "sprat",  "cod",    "haddock", "tuna",
    "whiting", "bream",    "perch",   "roach",   "minnow", "salmon", "trout",   "char",
    "mullet",  "bass",     "capelin", "smelt",   "shad",   "saithe", "pollack", "menhaden"};
#define N_FISHES (sizeof fishes / sizeof fishes[0])
#define N_KINDS 1000u

typedef struct arguments {
    const char *counts, *devices, *seed, *top, *threads, *memory;
    uint64_t n_devices, n_top, memory_limit; // 0: none
    unsigned n_threads;
} arguments;

// Kind r is seen in proportion to 1 / (r + 2).
static agg_err made_up_counts(agg_dictionary *counts, agg_error *error, const agg_recipe *recipe)
{
    char *text = agg_alloc(error, N_KINDS, 32);
    size_t len = 0;
    if (text == NULL) return AGG_ERR_MEMORY;
    for (unsigned r = 0; r < N_KINDS; r++) {
        char name[16];
        snprintf(name, sizeof name, "fish-%03u", r + 1);
        len += (size_t)snprintf(text + len, 32, "%s\t%u\n", r < N_FISHES ? fishes[r] : name,
                                1000000 / (r + 2));
    }
    agg_err err =
        agg_dictionary_parse(counts, error, recipe, "the made-up counts", text, len, 1, NULL, NULL);
    free(text);
    return err;
}

static agg_err fold_batch(void *context, agg_error *error, const uint8_t *batch, size_t len,
                          uint32_t count)
{
    (void)len;
    return agg_folder_add(context, error, batch + SHOAL_BATCH_HEADER, count);
}

// Of a folder: no more than all records take.
static size_t buffer_bytes(const arguments *a, const agg_accumulator *acc)
{
    uint64_t most = a->n_devices * acc->record_size;
    return most < (1u << 30) ? (size_t)most : 0;
}

static agg_err simulate(agg_accumulator *acc, uint64_t *drawn, agg_error *error, const arguments *a,
                        const agg_recipe *recipe, const agg_dictionary *counts)
{
    agg_folder folder = {.acc = NULL};
    agg_progress progress;
    agg_drawn out = {.counts = drawn};
    agg_simulation s = {.recipe = recipe,
                        .counts = counts,
                        .n_devices = a->n_devices,
                        .n_threads = a->n_threads,
                        .progress = agg_progress_show,
                        .progress_context = &progress};
    agg_simulation_seed(s.seed, a->seed != NULL ? a->seed : "demo");
    agg_err err = agg_folder_init(&folder, error, acc, buffer_bytes(a, acc), a->n_threads);
    agg_progress_start(&progress, "demo", "devices", a->n_devices);
    if (err == SHOAL_OK) err = agg_simulation_run(&out, error, &s, fold_batch, &folder);
    agg_progress_end(&progress);
    if (err == SHOAL_OK) err = agg_folder_flush(&folder, error);
    agg_folder_release(&folder);
    return err;
}

// Rows point into the counts' own bytes, which lie in file order.
static uint64_t truth_of(agg_text value, const agg_dictionary *counts, const uint64_t *drawn)
{
    size_t low = 0, high = counts->n - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (counts->values[middle].bytes < value.bytes)
            low = middle + 1;
        else
            high = middle;
    }
    return drawn[low];
}

static void print_comparison(const agg_estimate *e, const agg_dictionary *counts,
                             const uint64_t *drawn, size_t top)
{
    size_t n_covered = 0;
    printf("%llu devices, epsilon %g each. Alone, a record says next to nothing; together they "
           "say:\n\n",
           (unsigned long long)e->n, e->epsilon);
    printf("%-24s %10s %10s %8s  %s\n", "value", "true", "estimate", "stderr", "95 % interval");
    for (size_t i = 0; i < e->n_rows; i++) {
        const agg_estimate_row *row = &e->rows[i];
        uint64_t truth = truth_of(row->value, counts, drawn);
        int is_covered = row->low <= (double)truth && (double)truth <= row->high;
        n_covered += is_covered ? 1 : 0;
        if (i >= top) continue;
        agg_print_terminal_text(stdout, row->value.bytes, row->value.len);
        printf("%*s %10llu %10.0f %8.0f  %.0f to %.0f%s\n",
               row->value.len < 24 ? (int)(24 - row->value.len) : 0, "", (unsigned long long)truth,
               row->count, row->stderr_, row->low, row->high, is_covered ? "" : "  (missed)");
    }
    printf("\n%zu of %zu intervals cover the truth (%.1f %%)\n", n_covered, e->n_rows,
           100.0 * (double)n_covered / (double)e->n_rows);
}

// The counts lie in memory already, and took more while they were read; devices come before
// estimates.
static agg_err state_memory(agg_error *error, const arguments *a, const agg_accumulator *acc,
                            const agg_recipe *recipe, const agg_dictionary *counts)
{
    char command[] = "demo";
    const agg_simulation s = {.recipe = recipe, .counts = counts, .n_devices = a->n_devices};
    const agg_estimate_options options = {.n_threads = a->n_threads};
    agg_folder_memory folder = agg_folder_memory_of(acc, buffer_bytes(a, acc), a->n_threads);
    cli_counts_bytes bytes = cli_counts_memory(counts, a->counts);
    uint64_t before = agg_accumulator_size(acc) + counts->n * sizeof(uint64_t),
             most = folder.buffer + folder.beside + agg_simulation_memory(&s),
             estimating = agg_estimate_memory(recipe, counts->n, &options);
    if (estimating > most) most = estimating;
    uint64_t after = before + most > bytes.reading ? before + most : bytes.reading;
    return cli_state_memory(error, command, bytes.held + after, a->memory_limit);
}

static agg_err run_with(agg_error *error, const arguments *a, const agg_recipe *recipe,
                        const agg_dictionary *counts)
{
    agg_accumulator acc;
    agg_estimate estimate;
    agg_estimate_options options = {.n_threads = a->n_threads};
    agg_err err = agg_accumulator_init(&acc, error, &recipe->recipe);
    if (err != SHOAL_OK) return err;
    err = state_memory(error, a, &acc, recipe, counts);
    uint64_t *drawn = err == SHOAL_OK ? agg_alloc(error, counts->n, sizeof *drawn) : NULL;
    if (err == SHOAL_OK)
        err = drawn == NULL ? AGG_ERR_MEMORY : simulate(&acc, drawn, error, a, recipe, counts);
    if (err == SHOAL_OK) err = agg_estimate_run(&estimate, error, recipe, &acc, counts, &options);
    if (err == SHOAL_OK) {
        print_comparison(&estimate, counts, drawn, (size_t)a->n_top);
        agg_estimate_release(&estimate);
    }
    free(drawn);
    agg_accumulator_release(&acc);
    return err;
}

static agg_err run(agg_error *error, const arguments *a)
{
    char command[] = "demo";
    agg_recipe recipe;
    agg_dictionary counts;
    agg_err err = agg_recipe_from_bytes(&recipe, error, "the demo's recipe", recipe_text,
                                        sizeof recipe_text - 1);
    if (err != SHOAL_OK) return err;
    err = a->counts != NULL
              ? agg_counts_load(&counts, error, &recipe, a->counts, agg_log_line, command)
              : made_up_counts(&counts, error, &recipe);
    if (err == SHOAL_OK) {
        err = run_with(error, a, &recipe, &counts);
        agg_dictionary_release(&counts);
    }
    agg_recipe_release(&recipe);
    return err;
}

static agg_err read_arguments(arguments *a, agg_error *error, int argc, char **argv, int *help)
{
    const cli_option options[] = {{"counts", 0, &a->counts, NULL},
                                  {"devices", 0, &a->devices, NULL},
                                  {"seed", 0, &a->seed, NULL},
                                  {"top", 0, &a->top, NULL},
                                  {"threads", 0, &a->threads, NULL},
                                  {"memory", 0, &a->memory, NULL},
                                  {NULL, 0, NULL, NULL}};
    agg_err err = cli_options_read_only(options, error, argc, argv, help);
    if (err != SHOAL_OK || *help) return err;
    if (a->devices != NULL)
        err = cli_read_whole(&a->n_devices, error, "devices", a->devices, 1000, 1000000000);
    if (err == SHOAL_OK && a->top != NULL)
        err = cli_read_whole(&a->n_top, error, "top", a->top, 1, UINT32_MAX);
    if (err == SHOAL_OK) err = cli_read_memory(&a->memory_limit, error, a->memory);
    return err == SHOAL_OK ? cli_read_threads(&a->n_threads, error, a->threads) : err;
}

int cmd_demo(int argc, char **argv)
{
    arguments a = {.n_devices = 200000, .n_top = 20, .n_threads = 1};
    agg_error error = {SHOAL_OK, AGG_EXIT_RUNTIME, ""};
    int help = 0;
    agg_err err = read_arguments(&a, &error, argc, argv, &help);
    if (err == SHOAL_OK && help)
        fputs(help_text, stdout);
    else if (err == SHOAL_OK)
        err = run(&error, &a);
    return err == SHOAL_OK ? AGG_EXIT_OK : agg_log_error("demo", &error);
}
