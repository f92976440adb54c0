// SPDX-License-Identifier: Apache-2.0
// Reads the periods of a series from files: recipes, dictionaries and accumulators.
#ifndef PERIOD_FILES_H
#define PERIOD_FILES_H

#include "changes.h"

// The files as they are named. Texts are NUL-terminated and outlive the periods.
typedef struct agg_period_names {
    const char *const *accumulators;
    size_t n;
    const char *const *recipes;
    size_t n_recipes; // 1, or n
    const char *const *labels;
    size_t n_labels;        // 0 for names of files without folder and .acc, or n
    const char *dictionary; // NULL: the recipe's own list
    char *command;          // named in remarks on the dictionary
} agg_period_names;

typedef struct agg_period_files {
    size_t n, n_recipes;
    const char *const *paths;
    agg_changes_period *periods;   // n
    agg_recipe *recipes;           // n_recipes
    agg_dictionary *dictionaries;  // n_recipes
    agg_accumulator *accumulators; // n
} agg_period_files;

// Reads recipes and dictionaries.
//   files: to be released on OK
// Returns: AGG_ERR_USAGE for numbers of files that do not fit, a file that is named twice, and
// recipes whose own lists differ; else as agg_recipe_from_file and agg_dictionary_load.
agg_err agg_period_files_open(agg_period_files *files, agg_error *error,
                              const agg_period_names *names) SHOAL_MUST_CHECK;

// Reads the accumulators. Returns: as agg_accumulator_load_result.
agg_err agg_period_files_load(agg_period_files *files, agg_error *error,
                              agg_wholeness wholeness) SHOAL_MUST_CHECK;

void agg_period_files_release(agg_period_files *files);

#endif
