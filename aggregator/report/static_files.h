// SPDX-License-Identifier: Apache-2.0
// Reads what a static report is made of from files: recipes, dictionaries and accumulators. Each
// accumulator belongs to the recipe whose hash is in its head.
#ifndef STATIC_FILES_H
#define STATIC_FILES_H

#include "dictionary.h"
#include "static_report.h"

// The files as they are named. Texts are NUL-terminated and outlive what is read.
typedef struct agg_static_names {
    const char *const *recipes;
    size_t n_recipes; // 1 or more
    const char *const *accumulators;
    size_t n; // 1 or more
    // With one recipe a file and a variable, else ID=FILE and ID=NAME of the recipe with that id.
    const char *const *dictionaries, *const *variables;
    size_t n_dictionaries, n_variables;
    agg_wholeness wholeness;
    char *command; // named in remarks on dictionaries
} agg_static_names;

// What is read for one recipe; the report's names and context point to it.
typedef struct agg_static_input agg_static_input;

typedef struct agg_static_files {
    size_t n;
    agg_static_input *inputs;   // n
    agg_static_report *reports; // n_reports, in the order of the recipes
    size_t n_reports;           // the rounds of an analysis have one together
    agg_static_report *rounds;  // n, of which the reports take theirs
} agg_static_files;

// Reads recipes and dictionaries, and the heads of accumulators.
//   files: to be released on OK
//   like: the options of all reports
// Returns: AGG_ERR_USAGE for a recipe that is given twice or has no accumulator (the last of
// several rounds may have none: it is what is asked next), an accumulator of none of several
// recipes, a dictionary or variable of none of them; else as agg_recipe_from_file,
// agg_recipe_view_of and agg_dictionary_load.
agg_err agg_static_files_open(agg_static_files *files, agg_error *error,
                              const agg_static_names *names,
                              const agg_static_report *like) SHOAL_MUST_CHECK;
void agg_static_files_release(agg_static_files *files);

// Returns: the bytes of memory that agg_static_set_write takes for these reports.
uint64_t agg_static_files_memory(const agg_static_files *files);

#endif
