// SPDX-License-Identifier: Apache-2.0
// The demonstration; see demo.h.
#include "demo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accumulator.h"
#include "agg_size.h"
#include "batch.h"
#include "folder.h"
#include "input_memory.h"
#include "memory_option.h"
#include "simulation.h"

static const char recipe_text[] =
    "{\"recipe\":\"demo\",\"analysis\":\"demo\",\"stream\":\"demo\",\"value\":\"item\","
    "\"mechanism\":\"cms\",\"parameters\":{\"epsilon\":4,\"k\":2048,\"m\":1024},\"hash\":\"poly1\","
    "\"seed\":\"73686f616c2064656d6f2073686f616c2064656d6f2073686f616c2064656d6f\",\"limit\":{"
    "\"per_day\":1},\"expires\":\"2099-12-31\"}";

static const char *const fishes[] = {
    "herring", "mackerel", "sardine", "anchovy", "sprat",  "cod",    "haddock", "tuna",
    "whiting", "bream",    "perch",   "roach",   "minnow", "salmon", "trout",   "char",
    "mullet",  "bass",     "capelin", "smelt",   "shad",   "saithe", "pollack", "menhaden"};
#define N_FISHES (sizeof fishes / sizeof fishes[0])
#define N_KINDS 1000u

// Makes up counts: kind r in proportion to 1 / (r + 2).
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
    agg_err err = agg_dictionary_parse(counts, error, recipe, "the made-up counts", text, len, true,
                                       NULL, NULL);
    free(text);
    return err;
}

static agg_err fold_batch(void *context, agg_error *error, const uint8_t *batch, size_t len,
                          uint32_t count)
{
    (void)len;
    return agg_folder_add(context, error, batch + SHOAL_BATCH_HEADER, count);
}

// Returns: the size of the folder's buffer, no larger than all records; 0: the default.
static size_t buffer_bytes(const agg_demo *a, const agg_accumulator *acc)
{
    uint64_t most = a->n_devices * acc->record_size;
    return most < (1u << 30) ? (size_t)most : 0;
}

static agg_err simulate(agg_accumulator *acc, agg_error *error, const agg_demo *a)
{
    agg_folder folder = {.acc = NULL};
    agg_progress progress;
    agg_drawn out = {.counts = a->drawn};
    agg_simulation s = {.recipe = &a->recipe,
                        .counts = &a->counts,
                        .n_devices = a->n_devices,
                        .n_threads = a->n_threads,
                        .progress = agg_progress_show,
                        .progress_context = &progress};
    agg_simulation_seed(s.seed, a->seed);
    agg_err err = agg_folder_init(&folder, error, acc, buffer_bytes(a, acc), a->n_threads);
    agg_progress_start(&progress, "demo", "devices", a->n_devices);
    if (err == SHOAL_OK) err = agg_simulation_run(&out, error, &s, fold_batch, &folder);
    agg_progress_end(&progress);
    if (err == SHOAL_OK) err = agg_folder_flush(&folder, error);
    agg_folder_release(&folder);
    return err;
}

// A binary search by address: rows point into the bytes of `counts`, which are in file order.
uint64_t agg_demo_truth(const agg_demo *demo, agg_text value)
{
    const agg_dictionary *counts = &demo->counts;
    size_t low = 0, high = counts->n - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (counts->values[middle].bytes < value.bytes)
            low = middle + 1;
        else
            high = middle;
    }
    return demo->drawn[low];
}

// The counts are in memory already and took more while they were read. Simulating and estimating
// follow each other, so the larger of the two counts.
static agg_err state_memory(agg_error *error, const agg_demo *a, const agg_accumulator *acc)
{
    const agg_recipe *recipe = &a->recipe;
    const agg_dictionary *counts = &a->counts;
    char command[] = "demo";
    const agg_simulation s = {.recipe = recipe, .counts = counts, .n_devices = a->n_devices};
    const agg_estimate_options options = {.n_threads = a->n_threads};
    agg_folder_memory folder = agg_folder_memory_of(acc, buffer_bytes(a, acc), a->n_threads);
    cli_counts_bytes bytes = cli_counts_memory(counts, a->counts_path);
    uint64_t before = agg_accumulator_size(acc) + counts->n * sizeof(uint64_t),
             most = folder.buffer + folder.beside + agg_simulation_memory(&s),
             estimating = agg_estimate_memory(recipe, counts->n, &options);
    if (estimating > most) most = estimating;
    uint64_t after = before + most > bytes.reading ? before + most : bytes.reading;
    return cli_state_memory(error, command, bytes.held + after, a->memory_limit);
}

static agg_err run(agg_demo *d, agg_error *error, agg_accumulator *acc)
{
    const agg_estimate_options options = {.n_threads = d->n_threads};
    agg_err err = state_memory(error, d, acc);
    if (err != SHOAL_OK) return err;
    d->drawn = agg_alloc(error, d->counts.n, sizeof *d->drawn);
    if (d->drawn == NULL) return AGG_ERR_MEMORY;
    err = simulate(acc, error, d);
    return err == SHOAL_OK
               ? agg_estimate_run(&d->estimate, error, &d->recipe, acc, &d->counts, &options)
               : err;
}

agg_err agg_demo_run(agg_demo *demo, agg_error *error)
{
    char command[] = "demo";
    agg_accumulator acc;
    agg_err err = agg_recipe_from_bytes(&demo->recipe, error, "the demo's recipe", recipe_text,
                                        sizeof recipe_text - 1);
    if (err != SHOAL_OK) return err;
    err = demo->counts_path != NULL ? agg_counts_load(&demo->counts, error, &demo->recipe,
                                                      demo->counts_path, agg_log_line, command)
                                    : made_up_counts(&demo->counts, error, &demo->recipe);
    if (err == SHOAL_OK) err = agg_accumulator_init(&acc, error, demo->recipe.recipe);
    if (err != SHOAL_OK) return err;
    err = run(demo, error, &acc);
    agg_accumulator_release(&acc);
    return err;
}

void agg_demo_release(agg_demo *demo)
{
    agg_estimate_release(&demo->estimate);
    free(demo->drawn);
    agg_dictionary_release(&demo->counts);
    agg_recipe_release(&demo->recipe);
}
