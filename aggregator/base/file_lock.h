// SPDX-License-Identifier: Apache-2.0
// A lock on a file that will be replaced: one process at a time reads the old file, writes the new
// one and renames it. Without it, two that append at once would each add to the same old file, and
// the one that renames last would drop what the other added.
//
// The lock is held on "PATH.lock", since PATH itself is replaced, and may not exist yet. It ends
// with the process, however that ends; a lock file that a killed process leaves behind is taken
// over by the next one. WASI has no such locks: there the lock is the file's existence, and one
// that was left behind must be removed by hand.
#ifndef FILE_LOCK_H
#define FILE_LOCK_H

#include "agg_error.h"

typedef struct agg_file_lock {
    int fd;     // -1: nothing is locked
    char *path; // of the lock file
} agg_file_lock;

// Takes the lock of a file, waiting for as long as another process has it. "-" and what a file must
// not replace, such as a device or a pipe, need no lock.
//   command: its name, for the log line that says that it waits
// Returns: AGG_ERR_IO if the lock file cannot be made. Release the lock only after SHOAL_OK.
agg_err agg_file_lock_take(agg_file_lock *lock, agg_error *error, char *command,
                           const char *path) SHOAL_MUST_CHECK;

// Removes the lock file and ends the lock.
void agg_file_lock_release(agg_file_lock *lock);

#endif
