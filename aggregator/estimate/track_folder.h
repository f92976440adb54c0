// SPDX-License-Identifier: Apache-2.0
// Reads the epochs of a run from files. Each epoch has a recipe and an accumulator, named one by
// one or found in a folder as 0001.recipe.json and 0001.acc.
#ifndef TRACK_FOLDER_H
#define TRACK_FOLDER_H

#include "track_series.h"

// Adds one epoch to a series.
// Returns: as agg_track_add, and as the readers of the two files.
agg_err agg_track_add_files(agg_track *track, agg_error *error, const char *recipe_path,
                            const char *path) SHOAL_MUST_CHECK;

// Adds every epoch of a folder, in the order of their numbers.
// Returns: AGG_ERR_USAGE for a folder without an epoch.
agg_err agg_track_add_folder(agg_track *track, agg_error *error,
                             const char *folder) SHOAL_MUST_CHECK;

#endif
