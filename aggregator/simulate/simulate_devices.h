// SPDX-License-Identifier: Apache-2.0
// Simulated devices of one collection whose reports go to a file, as batches or as NDJSON.
#ifndef SIMULATE_DEVICES_H
#define SIMULATE_DEVICES_H

#include <stdbool.h>

#include "agg_error.h"
#include "recipe_json.h"
#include "window_simulation.h"

typedef struct simulate_devices_options {
    const char *counts, *seed;
    const char *output; // file of the reports; "-": standard output
    const char *truth;  // file of value<TAB>count lines, what was really drawn; NULL: none. With
                        // windows and send.pick "uniform" the count is what these windows hold, and
                        // a third column has what the crowd's windows hold on average
    const agg_windows *windows; // NULL: none. Its openings are read from `openings`
    const char *openings;       // file of value<TAB>count lines, or NULL
    uint64_t n_devices, first;
    uint32_t n_events; // events of one device
    bool is_ndjson, is_batch_v1;
    uint32_t day; // on which the batches are sealed; 0: AGG_SIMULATION_DAY
    unsigned n_threads;
    uint64_t memory_limit; // bytes, 0: no limit
} simulate_devices_options;

// Simulates the devices. An output file appears when it is complete.
agg_err simulate_devices(agg_error *error, const agg_recipe *recipe,
                         const simulate_devices_options *options) SHOAL_MUST_CHECK;

#endif
