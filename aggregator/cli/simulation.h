// SPDX-License-Identifier: Apache-2.0
// Simulated devices: real values drawn from counts, real randomizers, reproducible to the byte.
//
// Device i uses stream i of the seed: first below(total of counts) picks its value, then the core randomizes it. So neither the number
// of threads nor the size of a batch changes what a device sends. Where the mechanism needs a permanent secret, device i's is the
// first 32 bytes of stream i of SHA-256("shoal simulate secret" and the seed).
#ifndef SIMULATION_H
#define SIMULATION_H

#include <stdint.h>

#include "agg_error.h"
#include "dictionary.h"
#include "recipe_json.h"

typedef struct agg_simulation {
    const agg_recipe *recipe;
    const agg_dictionary *counts; // of agg_counts_load
    uint8_t seed[32];
    uint64_t n_devices;
    unsigned n_threads;
    void (*progress)(void *context, uint64_t devices); // may be NULL
    void *progress_context;
} agg_simulation;

// Takes one sealed batch of `count` records.
typedef shoal_err (*agg_batch_sink)(void *context, agg_error *error, const uint8_t *batch, size_t len, uint32_t count);

// Writes the seed of a text: SHA-256 of "shoal simulate seed" and the text.
void agg_simulation_seed(uint8_t seed[32], const char *text);

// Draws and privatizes every device, in order, in batches of at most 65536 records and 16 MiB.
//   drawn: counts->n numbers, how many devices drew each value; written
shoal_err agg_simulation_run(uint64_t *drawn, agg_error *error, const agg_simulation *simulation, agg_batch_sink sink,
                             void *sink_context) SHOAL_MUST_CHECK;

#endif
