// SPDX-License-Identifier: Apache-2.0
// Devices, aggregator and analyst in one process: a simulated collection, its estimates, and the
// truth that only a simulation has.
#ifndef DEMO_H
#define DEMO_H

#include "dictionary.h"
#include "estimate.h"
#include "log.h"

typedef struct agg_demo {
    // The question.
    const char *counts_path;          // value<TAB>count lines; NULL: a shoal of 1,000 made-up kinds
    const char *seed;                 // any text
    uint64_t n_devices, memory_limit; // bytes, 0: no limit
    unsigned n_threads;

    // The answer.
    agg_recipe recipe;
    agg_dictionary counts;
    uint64_t *drawn; // devices that really drew each value of `counts`
    agg_estimate estimate;
} agg_demo;

// Simulates the devices, folds their records and estimates the counts of all values.
//   demo: the answer is zeroed; release it whatever is returned
agg_err agg_demo_run(agg_demo *demo, agg_error *error) SHOAL_MUST_CHECK;
void agg_demo_release(agg_demo *demo);

// Returns: how many devices really drew a value of one of the estimate's rows.
uint64_t agg_demo_truth(const agg_demo *demo, agg_text value);

#endif
