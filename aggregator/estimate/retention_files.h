// SPDX-License-Identifier: Apache-2.0
// The weeks of a retention from files: one recipe, and an accumulator for each week.
#ifndef RETENTION_FILES_H
#define RETENTION_FILES_H

#include "retention.h"

#define AGG_RETENTION_NO_FILE "-" // in place of a path: there is no accumulator of this week

typedef struct agg_retention_files {
    agg_recipe recipe;
    size_t n; // weeks
    const char *const *paths;
    agg_retention_week *weeks; // n, with labels; without accumulators until they are loaded
    agg_accumulator *accumulators;
    char *names; // of weeks without a file
} agg_retention_files;

// Reads the recipe and the labels.
//   files: points into the arguments; released by agg_retention_files_release, also on errors
//   paths: n of them, in the order of the weeks, or AGG_RETENTION_NO_FILE
//   labels: one a week with commas between them; NULL: the names of the files without their
//   folders and without ".acc", and "week 3" for a week without a file
// Returns: as agg_retention_ages; AGG_ERR_USAGE unless there is one label a week.
agg_err agg_retention_files_open(agg_retention_files *files, agg_error *error,
                                 const char *recipe_path, const char *const *paths, size_t n,
                                 const char *labels) SHOAL_MUST_CHECK;

// Reads the accumulators. Returns: as agg_accumulator_load_result.
agg_err agg_retention_files_load(agg_retention_files *files, agg_error *error,
                                 agg_wholeness wholeness) SHOAL_MUST_CHECK;

void agg_retention_files_release(agg_retention_files *files);

#endif
