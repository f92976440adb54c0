// SPDX-License-Identifier: Apache-2.0
// A simulated run over epochs in a folder: the recipe and the accumulator of every epoch,
// 0001.recipe.json and 0001.acc, and simulation.json with what only a simulation can know.
#ifndef SIMULATE_EPOCHS_H
#define SIMULATE_EPOCHS_H

#include "agg_error.h"
#include "recipe_json.h"

typedef struct simulate_epochs_options {
    const char *counts, *seed, *folder;
    uint64_t n_devices; // 0: as many as the recipe has users
    uint32_t n_epochs;  // 0: all
    unsigned n_threads;
    uint64_t memory_limit; // bytes; 0: no limit
} simulate_epochs_options;

// Simulates the run. Creates the folder if it is missing; refuses one that holds an epoch already.
agg_err simulate_epochs(agg_error *error, const agg_recipe *recipe,
                        const simulate_epochs_options *options) SHOAL_MUST_CHECK;

#endif
