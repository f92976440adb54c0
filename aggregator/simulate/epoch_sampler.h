// SPDX-License-Identifier: Apache-2.0
// The samples of one simulated device in one epoch: `samples` independent values of its group's
// law, as their mean or as their counts.
//
// For a law of one or two values, one draw from a table (binomial_draw.h) gives the mean. For more
// values the counts are multinomial: value after value, a binomial draw of the samples that are
// left; the mean follows from the counts. The result is as exact as binomial_draw.h.
#ifndef EPOCH_SAMPLER_H
#define EPOCH_SAMPLER_H

#include "binomial_draw.h"
#include "epoch_counts.h"

typedef struct epoch_sampler {
    const epoch_law *law; // the law that it draws from; NULL at first
    uint32_t samples;
    uint32_t n; // number of values whose count is not zero
    uint32_t *values;
    double *shares;        // share of each value in what the values before it leave
    const uint64_t *items; // item of each value of the counts file
    binomial_table table;  // draws the count of the second value if n is 2
    uint64_t *means;       // mean for each slot of the table
} epoch_sampler;

// Prepares for a law; does nothing if it is the same as before.
//   sampler: all zeros at first
//   items: one for each value of `counts`, at most 2^32; must outlive the sampler
//   samples: 1 .. 10^9
agg_err epoch_sampler_set(epoch_sampler *sampler, agg_error *error, const epoch_counts *counts,
                          const epoch_law *law, const uint64_t *items,
                          uint32_t samples) SHOAL_MUST_CHECK;
void epoch_sampler_release(epoch_sampler *sampler);

// Returns: the mean of the drawn items, rounded down.
uint64_t epoch_sampler_mean(const epoch_sampler *sampler, shoal_rng *rng);

// Writes to counts[values[i]] how many samples have that value, for i < n.
//   counts: one for each value of the counts file; those of other values stay unchanged
void epoch_sampler_counts(uint32_t *counts, const epoch_sampler *sampler, shoal_rng *rng);

#endif
