// SPDX-License-Identifier: Apache-2.0
// The folder that a log lies in.
#ifndef TLOG_FOLDER_H
#define TLOG_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "agg_error.h"
#include "tlog_log.h"

// Reads a log from a folder.
//   folder: lives as long as the source
agg_tlog_source agg_tlog_folder(const char *folder);

// Joins a folder and a path. Returns: a string to free; NULL with `error` filled.
char *agg_tlog_join(agg_error *error, const char *folder, const char *path);

// Returns: whether the folder has a file of that path.
bool agg_tlog_folder_has(const char *folder, const char *path);

// Replaces a file of the folder atomically, and makes the folders above it. The file is on the disk
// when it returns.
agg_err agg_tlog_folder_write(agg_error *error, const char *folder, const char *path,
                              const void *bytes, size_t len) SHOAL_MUST_CHECK;

#endif
