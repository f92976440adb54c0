// SPDX-License-Identifier: Apache-2.0
// Simulated devices that live through the epochs of a run of thresh or heavythresh: each keeps its
// state, draws its samples of every epoch and answers every recipe, and the next recipe is decided
// by the ordinary rule (next_epoch.h).
//
// Device i uses stream i of the seed for all it ever draws: in each epoch first its samples, by the
// law of its group (epoch_counts.h), then what the core draws for the record. So neither the number
// of threads nor anything else changes a byte; and for a law of two values, the same seed gives the
// same samples whatever epsilon is. Devices take the core's step and keep their states as structs;
// bytes, checksums and refusals are the clients' tests. After the run 2 c_V + c_E of every device
// is compared with epsilon; more is an error, and would be one of the core.
#ifndef TRACK_SIMULATION_H
#define TRACK_SIMULATION_H

#include "accumulator.h"
#include "epoch_counts.h"
#include "recipe_json.h"

// Takes an epoch's recipe and what its reports sum to.
typedef agg_err (*track_sink)(void *context, agg_error *error, const agg_recipe *recipe,
                              const agg_accumulator *acc);

typedef struct track_simulation {
    const agg_recipe *recipe; // of epoch 1
    const epoch_counts *counts;
    uint8_t seed[32];
    uint64_t n_devices;
    uint32_t n_epochs; // at most; 0: the whole run
    unsigned n_threads;
    track_sink sink;
    void *sink_context;
    void (*progress)(void *context, uint64_t epochs); // may be NULL
    void *progress_context;
} track_simulation;

// What only a simulation can know, by epoch.
typedef struct track_spent {
    uint32_t n;          // epochs, without the closing one
    double *votes_spent; // share of devices without a vote left
    double *privacy;     // 2 c_V + c_E of the device that has spent most
} track_spent;

// Runs. Memory: 350 bytes a device of thresh, 8 w + 350 of heavythresh.
//   spent: release on OK only
// Returns: AGG_ERR_USAGE for a recipe of another mechanism, or that is not of epoch 1, and for
// values that are no numbers where numbers are followed.
agg_err track_simulation_run(track_spent *spent, agg_error *error,
                             const track_simulation *simulation) SHOAL_MUST_CHECK;

// Returns: the bytes that it takes at its peak, beside the counts. The seed, the sink and the
// progress are not read.
uint64_t track_simulation_memory(const track_simulation *simulation);
void track_spent_release(track_spent *spent);

// Writes what the values of a counts file are to a recipe: items[i] of value i.
agg_err track_items(uint64_t *items, agg_error *error, const agg_recipe *recipe,
                    const epoch_counts *counts) SHOAL_MUST_CHECK;

// Writes the statistic's truth of every epoch, in the recipe's units. Of thresh alone.
//   truth: n_epochs of them
agg_err track_truth(double *truth, agg_error *error, const agg_recipe *recipe,
                    const epoch_counts *counts, uint64_t n_devices,
                    uint32_t n_epochs) SHOAL_MUST_CHECK;

#endif
