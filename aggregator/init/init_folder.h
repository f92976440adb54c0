// SPDX-License-Identifier: Apache-2.0
// A folder that appears under its name when it is complete, or not at all: files are written into a
// temporary folder beside it, which is renamed at the end.
//
// Secrets have mode 0600 and their folders 0700 from the first moment on. WASI cannot set modes;
// there the host calls the command with a umask of 077 (aggregator/js/init.js).
#ifndef INIT_FOLDER_H
#define INIT_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "agg_error.h"

#define INIT_FOLDER_FILES_MAX 48u

typedef struct init_folder {
    char *path, *temporary; // to free
    // What was made, in order: names below the folder, to free. A folder's name ends with '/'.
    char *made[INIT_FOLDER_FILES_MAX];
    size_t n_made;
} init_folder;

// Begins. Returns: AGG_ERR_USAGE for a path that names something that is there and not an empty
// folder, naming what is in the way.
agg_err init_folder_begin(init_folder *folder, agg_error *error, const char *path) SHOAL_MUST_CHECK;

// Makes a folder below it.
agg_err init_folder_add_folder(init_folder *folder, agg_error *error, const char *name,
                               bool is_private) SHOAL_MUST_CHECK;

// Writes a file below it.
agg_err init_folder_add(init_folder *folder, agg_error *error, const char *name, bool is_private,
                        const char *text, size_t len) SHOAL_MUST_CHECK;

// Gives the folder its name.
agg_err init_folder_commit(init_folder *folder, agg_error *error) SHOAL_MUST_CHECK;

// Removes what was made, unless it was committed, and releases the rest.
void init_folder_end(init_folder *folder);

#endif
