// SPDX-License-Identifier: Apache-2.0
// shoal simulate, of a recipe of a run over epochs: a folder with the recipe and the accumulator of
// every epoch, 0001.recipe.json and 0001.acc, and what only a simulation can know, simulation.json.
#ifndef SIMULATE_EPOCHS_H
#define SIMULATE_EPOCHS_H

#include "agg_error.h"
#include "recipe_json.h"

typedef struct simulate_epochs_options {
    const char *counts, *seed, *folder;
    uint64_t n_devices; // 0: as many as the recipe has users
    uint32_t n_epochs;  // 0: all
    unsigned n_threads;
    uint64_t memory_limit; // of --memory; 0: none
} simulate_epochs_options;

// Runs it. The folder is made where there is none; one that holds an epoch already is refused.
agg_err simulate_epochs(agg_error *error, const agg_recipe *recipe,
                        const simulate_epochs_options *options) SHOAL_MUST_CHECK;

#endif
