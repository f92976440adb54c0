// SPDX-License-Identifier: Apache-2.0
// What practitioners do in place of THRESH, on simulated devices with the same laws: joseph-2018
// section 1.
//
// Naive: every epoch a one-bit mean (Ding, Kulkarni, Yekhanin, NIPS 2017, section 3) with
// epsilon/T, so that a run keeps epsilon by basic composition. Memoized: a device rounds its mean
// to 0 or 1 by a threshold of its own, drawn once, and answers with one of two permanent randomized
// responses of epsilon/2 (same paper, section 4: alpha-point rounding, one interval). The two
// responses together keep epsilon, whatever the number of epochs; but when a device's response
// changes is seen by everybody, and no epsilon bounds what that says. Device i uses stream i of
// SHA-256("shoal track rivals" and the seed): its threshold and responses, then in each epoch its
// samples and the naive coins.
#ifndef TRACK_RIVALS_H
#define TRACK_RIVALS_H

#include "track_simulation.h"

typedef struct track_rivals {
    uint32_t n;               // epochs
    double naive_epsilon;     // of one epoch
    double *naive, *memoized; // estimates by epoch, in the recipe's units
    double *memoized_privacy; // epsilon of the responses that the device with most of them has used
    double *memoized_seen;    // share of devices that have shown at least one change
} track_rivals;

// Runs both. Reads the simulation's recipe (of thresh), counts, seed, devices, epochs and threads.
// Release on OK only.
agg_err track_rivals_run(track_rivals *rivals, agg_error *error,
                         const track_simulation *simulation) SHOAL_MUST_CHECK;
void track_rivals_release(track_rivals *rivals);

#endif
