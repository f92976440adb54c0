// SPDX-License-Identifier: Apache-2.0
// The observations of a distribution that density.h takes: places of a grid, or counts of buckets.
// Private to estimate/.
#ifndef DENSITY_SOURCES_H
#define DENSITY_SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "density.h"
#include "place_law.h"

#define AGG_DENSITY_PLACES_MAX 512u
#define AGG_DENSITY_BUCKETS_MAX 256u

typedef struct agg_density_observed {
    agg_density_data data; // its members point into this struct, which must not move
    double edges[AGG_DENSITY_CELLS_MAX + 1];
    // Places: how many reports name each.
    agg_place_law law;
    double n;       // reports; of buckets the sum of their counts where has_total is false
    bool has_total; // of buckets: every report is of one of them
    double counts[AGG_DENSITY_PLACES_MAX]; // of places, or of buckets
    // Buckets: equal parts of the range, each of some cells.
    size_t n_buckets, cells_each;
    double variances[AGG_DENSITY_BUCKETS_MAX];
} agg_density_observed;

// Observes places. A cell is a position of the grid with half a step on either side.
//   cells: counts of the law's places, which are at most AGG_DENSITY_PLACES_MAX
void agg_density_of_places(agg_density_observed *observed, const agg_place_law *law,
                           const uint32_t *cells);

// Observes buckets by unbiased counts with independent normal errors. Where buckets are wide, each
// is divided into cells, and smoothness says how its numbers lie. More than AGG_DENSITY_BUCKETS_MAX
// buckets are taken together.
//   total: reports, each of one of the buckets; 0 where some may be of none
//   counts, stderrs: n_buckets, reports; the errors are about these very devices, and the variance
//   of drawing them from a crowd is added
// Returns: false if the counts add up to nothing.
bool agg_density_of_buckets(agg_density_observed *observed, double total, const double *counts,
                            const double *stderrs, size_t n_buckets);

#endif
