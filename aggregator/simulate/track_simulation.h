// SPDX-License-Identifier: Apache-2.0
// Simulated devices that live through the epochs of a run of thresh or heavythresh. Each keeps its
// state, draws its samples of every epoch and answers every recipe; the ordinary rule
// (next_epoch.h) decides the next recipe.
//
// Device i uses stream i of the seed for everything it draws: in each epoch first its samples, by
// the law of its group (epoch_counts.h), then the coins of its record. So the number of threads
// changes no byte; and for a law of two values, the same seed gives the same samples at every
// epsilon. Devices take the core's step and keep their states as structs: the clients' tests cover
// bytes, checksums and refusals. After the run, 2 c_V + c_E of every device is compared with
// epsilon; more would be an error of the core.
#ifndef TRACK_SIMULATION_H
#define TRACK_SIMULATION_H

#include "accumulator.h"
#include "epoch_counts.h"
#include "recipe_json.h"

// Takes an epoch's recipe and accumulator.
typedef agg_err (*track_sink)(void *context, agg_error *error, const agg_recipe *recipe,
                              const agg_accumulator *acc);

typedef struct track_simulation {
    const agg_recipe *recipe; // the recipe of epoch 1
    const epoch_counts *counts;
    uint8_t seed[32];
    uint64_t n_devices;
    uint32_t n_epochs; // the most epochs; 0: the whole run
    unsigned n_threads;
    track_sink sink;
    void *sink_context;
    void (*progress)(void *context, uint64_t epochs); // may be NULL
    void *progress_context;
} track_simulation;

// The spending of devices, which only a simulation knows, by epoch.
typedef struct track_spent {
    uint32_t n;          // epochs, without the closing one
    double *votes_spent; // share of devices without a vote left
    double *privacy;     // 2 c_V + c_E of the device that has spent most
} track_spent;

// Runs the simulation. Memory: 350 bytes a device for thresh, 8 w + 350 for heavythresh.
//   spent: release on OK only
// Returns: AGG_ERR_USAGE for a recipe of another mechanism or epoch, and for values of thresh that
// are not numbers.
agg_err track_simulation_run(track_spent *spent, agg_error *error,
                             const track_simulation *simulation) SHOAL_MUST_CHECK;

// Returns: the peak bytes of a run, without the counts. Ignores the seed, the sink and the
// progress.
uint64_t track_simulation_memory(const track_simulation *simulation);
void track_spent_release(track_spent *spent);

// Writes the item of the recipe for each value of a counts file: items[i] for value i.
agg_err track_items(uint64_t *items, agg_error *error, const agg_recipe *recipe,
                    const epoch_counts *counts) SHOAL_MUST_CHECK;

// Writes the true statistic of every epoch, in the recipe's units. For thresh only.
//   truth: n_epochs numbers
agg_err track_truth(double *truth, agg_error *error, const agg_recipe *recipe,
                    const epoch_counts *counts, uint64_t n_devices,
                    uint32_t n_epochs) SHOAL_MUST_CHECK;

#endif
