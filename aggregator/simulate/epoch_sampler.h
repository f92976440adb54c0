// SPDX-License-Identifier: Apache-2.0
// What one simulated device sees in one epoch: `samples` independent values of its group's law, as
// their mean or as their counts.
//
// A law of one or two values gives the mean by one draw from a table (binomial_draw.h). Of more
// values the counts are a multinomial, by binomials of what is left, value after value; their mean
// follows. Exact as binomial_draw.h says.
#ifndef EPOCH_SAMPLER_H
#define EPOCH_SAMPLER_H

#include "binomial_draw.h"
#include "epoch_counts.h"

typedef struct epoch_sampler {
    const epoch_law *law; // that it draws from; NULL at first
    uint32_t samples;
    uint32_t n; // values whose count is not zero
    uint32_t *values;
    double *shares;        // of each value in what the values before it leave
    const uint64_t *items; // by value of the counts file
    binomial_table table;  // of the second value, where n is 2
    uint64_t *means;       // by slot of the table
} epoch_sampler;

// Makes ready for a law; does nothing where it is the same as before.
//   sampler: all zeros at first
//   items: by value of `counts`, at most 2^32 each; must outlive the sampler
//   samples: 1 .. 10^9
agg_err epoch_sampler_set(epoch_sampler *sampler, agg_error *error, const epoch_counts *counts,
                          const epoch_law *law, const uint64_t *items,
                          uint32_t samples) SHOAL_MUST_CHECK;
void epoch_sampler_release(epoch_sampler *sampler);

// Returns: the mean of the samples' items, rounded down.
uint64_t epoch_sampler_mean(const epoch_sampler *sampler, shoal_rng *rng);

// Writes counts[values[i]], how many samples have the value, for i < n.
//   counts: by value of the counts file; those of other values are left as they are
void epoch_sampler_counts(uint32_t *counts, const epoch_sampler *sampler, shoal_rng *rng);

#endif
