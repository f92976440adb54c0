// SPDX-License-Identifier: Apache-2.0
// The mean of numbers from answers that are places of a grid, or bits (place_law.h). Private to
// estimate/.
#ifndef PLACE_MEAN_H
#define PLACE_MEAN_H

#include "estimator.h"
#include "place_law.h"

// Writes the mean, a fraction of the range, with its standard error to each of n_counts entries:
// all items of a mean are the same mean.
//   sketch: one row of the law's answers
void agg_place_mean(agg_count *counts, size_t n_counts, const agg_place_law *law,
                    const agg_sketch *sketch, uint64_t n);

#endif
