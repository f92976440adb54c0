// SPDX-License-Identifier: Apache-2.0
// Estimates from a run of HEAVYTHRESH: the shares of listed values at every update, and the values
// that moved. Pure.
//
// An update is the mean y of n reports, where each report adds +-sqrt(w)/(1 - 2q) at one of w
// coordinates. A value v has the seeded signs phi_j(v)/sqrt(w). Its share is <phi(v), y>, the mean
// of n terms +-1/(1 - 2q) whose sign is right more often than not:
//
//     share = (1/n) sum_j phi_j(v) (pluses_j - minuses_j) / (1 - 2q)
//     Var   = (1/(1 - 2q)^2 - share^2) / n + B/w
//
// B is the sum of the other values' squared shares, because the signs of two values agree by chance
// on more or less than half of the coordinates. B is summed over the detected values. For a change
// the second term has the values' changes, because their signs stay the same. The interval assumes
// independent reports and an n large enough for the normal law.
//
// Source: joseph-2018 section 5.2; the randomizer of R. Bassily, A. Smith, "Local, private,
// efficient protocols for succinct histograms" (STOC 2015).
#ifndef TRACK_ITEMS_H
#define TRACK_ITEMS_H

#include <stdbool.h>

#include "dictionary.h"
#include "track_series.h"

typedef struct agg_track_share {
    double share, stderr_, low, high; // unbiased; may be negative
    double change, change_error;      // since the update before; NaN at the first update
    double reports_error;             // the part of stderr_ that falls with more reports
    bool is_detected;                 // the share is distinguishable from zero
    bool has_moved;                   // the change is distinguishable from zero
} agg_track_share;

typedef struct agg_track_items {
    const agg_track *track;
    const agg_dictionary *dictionary;
    size_t n;                // values
    agg_track_share *shares; // update by update, n of each in the dictionary's order
    uint32_t *order;         // values by falling share at the last update
} agg_track_items;

// Estimates every value of a dictionary at every update of a finished series. Both must outlive the
// items. At the series' confidence each interval holds alone; `is_detected` and `has_moved` hold
// for all values of an update together (Bonferroni).
//   items: release on OK only
// Cost: w additions for each value and update.
agg_err agg_track_items_run(agg_track_items *items, agg_error *error, const agg_track *track,
                            const agg_dictionary *dictionary) SHOAL_MUST_CHECK;

// Returns: the bytes that agg_track_items_run takes at its peak. The items then hold most of them.
uint64_t agg_track_items_memory(const agg_track *track, size_t n_values);

void agg_track_items_release(agg_track_items *items);

// Returns: value i at update u.
static inline const agg_track_share *agg_track_items_at(const agg_track_items *items, size_t u,
                                                        size_t i)
{
    return &items->shares[u * items->n + i];
}

// Returns: whether value i is withheld at update u, because its count is below the recipe's release
// threshold.
bool agg_track_is_withheld(const agg_track_items *items, size_t u, size_t i);

#endif
