// SPDX-License-Identifier: Apache-2.0
// Reads a simulation's data for printing beside a run's series: the truth, and what its devices
// spent.
#ifndef TRACK_BESIDE_H
#define TRACK_BESIDE_H

#include "track_print.h"

// Reads the counts from which a run of thresh was simulated.
//   truth: the mean of each epoch of the series; release with free
agg_err agg_track_load_truth(double **truth, agg_error *error, const agg_track *track,
                             const char *path) SHOAL_MUST_CHECK;

// Reads simulation.json in a folder of epochs. A folder without the file, or with that of another
// run, leaves `out` unchanged.
//   numbers: the numbers that `out` points into; release with free
agg_err agg_track_load_simulated(agg_track_simulated *out, double **numbers, agg_error *error,
                                 const agg_track *track, const char *folder) SHOAL_MUST_CHECK;

#endif
