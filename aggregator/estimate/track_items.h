// SPDX-License-Identifier: Apache-2.0
// What a run of HEAVYTHRESH says of listed values: their shares at every update, and which moved.
// Pure.
//
// An update is a vector y of w coordinates, to which each of n reports added +-sqrt(w)/(1 - 2q) at
// one of them, over n; a value v has the seeded signs phi_j(v)/sqrt(w). Its share is <phi(v), y>,
// the mean of n terms +-1/(1 - 2q) whose sign is right more often than not:
//
//     share = (1/n) sum_j phi_j(v) (pluses_j - minuses_j) / (1 - 2q),     Var = (1/(1 - 2q)^2 -
//     share^2) / n + B/w
//
// B is the sum of the other values' squared shares: signs of two values agree by chance on more or
// less than half of the coordinates. It is taken over the values that are detected. Of a change the
// second term is that of their changes, since the signs stay the same. Source: joseph-2018
// section 5.2; R. Bassily, A. Smith, "Local, private, efficient protocols for succinct histograms"
// (STOC 2015), its randomizer.
#ifndef TRACK_ITEMS_H
#define TRACK_ITEMS_H

#include <stdbool.h>

#include "dictionary.h"
#include "track_series.h"

typedef struct agg_track_share {
    double share, stderr_, low, high; // unbiased; may be negative
    double change, change_error;      // since the update before; NaN at the first
    double reports_error;             // the part of stderr_ that more reports would lower
    bool is_detected;                 // distinguishable from zero, among all values
    bool has_moved;                   // its change is, among all values
} agg_track_share;

typedef struct agg_track_items {
    const agg_track *track;
    const agg_dictionary *dictionary;
    size_t n;                // values
    agg_track_share *shares; // n of each update, update by update, in the dictionary's order
    uint32_t *order;         // values by falling share at the last update
} agg_track_items;

// Estimates every value of a dictionary at every update of a finished series. Both must outlive the
// items. Release on OK only.
//   confidence: as the series': intervals hold one by one, `is_detected` and `has_moved` for all
//   values of an update together (Bonferroni)
// Cost: w additions for each value and update.
agg_err agg_track_items_run(agg_track_items *items, agg_error *error, const agg_track *track,
                            const agg_dictionary *dictionary) SHOAL_MUST_CHECK;

// Returns: the bytes that agg_track_items_run takes at its peak, and the items then hold most of.
uint64_t agg_track_items_memory(const agg_track *track, size_t n_values);
void agg_track_items_release(agg_track_items *items);

// Returns: value i at update u.
static inline const agg_track_share *agg_track_items_at(const agg_track_items *items, size_t u,
                                                        size_t i)
{
    return &items->shares[u * items->n + i];
}

// Returns: whether the value's reports of that update are below the recipe's release threshold: it
// is not shown there.
bool agg_track_is_withheld(const agg_track_items *items, size_t u, size_t i);

#endif
