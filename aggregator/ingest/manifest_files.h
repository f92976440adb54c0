// SPDX-License-Identifier: Apache-2.0
// Makes, checks and prints manifest files (manifest.h).
#ifndef MANIFEST_FILES_H
#define MANIFEST_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "agg_error.h"

typedef struct agg_manifest_options {
    const char *recipe;       // a file
    const char *output;       // the manifest; "-": standard output
    const char *names;        // a file of names of batches, "-" for standard input, or NULL
    bool allows_version_1;    // lists batches of version 1 too
    const char *const *after; // n_after earlier manifests
    size_t n_after;
    const char *const *paths; // n_paths files and folders of batches
    int n_paths;
} agg_manifest_options;

// Makes a manifest and prints its name. One that exists is left as it is if it is the same.
// Returns: SHOAL_ERR_DUPLICATE for an output that is another manifest; as agg_manifest_make,
// agg_gather_path and agg_gather_names.
agg_err agg_manifest_make_file(agg_error *error,
                               const agg_manifest_options *options) SHOAL_MUST_CHECK;

// Checks manifests, alone and against one another, and prints how many batches they list.
// Returns: as agg_manifest_load and agg_manifest_check_chain.
agg_err agg_manifest_check_files(agg_error *error, const char *const *files, size_t n_files,
                                 bool is_json) SHOAL_MUST_CHECK;

// Prints a manifest.
//   with_ids: prints the ids of its batches too
agg_err agg_manifest_print_file(agg_error *error, const char *file, bool with_ids,
                                bool is_json) SHOAL_MUST_CHECK;

#endif
