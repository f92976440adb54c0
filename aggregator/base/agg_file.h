// SPDX-License-Identifier: Apache-2.0
// Reads whole files and replaces them atomically: a written file appears under its name only when
// it is complete and on the disk.
#ifndef AGG_FILE_H
#define AGG_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "agg_error.h"

typedef struct agg_bytes {
    uint8_t *data; // followed by a NUL byte, which `len` does not count
    size_t len;
} agg_bytes;

// Reads a whole file. Release with free(bytes->data).
//   path: "-" is standard input
//   max: bytes; a larger file is an error
agg_err agg_file_read(agg_bytes *bytes, agg_error *error, const char *path,
                      size_t max) SHOAL_MUST_CHECK;

// Returns: whether the path names something that a file must not replace: a device such as
// /dev/null, a pipe, a folder, or a descriptor of this process such as /dev/stdout, whatever it
// leads to.
bool agg_file_is_special(const char *path);

// Finds the file that a path ends at where it is a symbolic link, so that the file is replaced and
// not the link: who appends by another name must find what was added.
// Returns: a string to free, the path itself where it is no link or leads nowhere; NULL with
// `error` filled.
char *agg_file_target(agg_error *error, const char *path);

// A file that is being written.
typedef struct agg_file {
    FILE *stream;
    char *path, *temporary;
} agg_file;

// Opens "PATH.tmp-<thread id>" for writing, beside what a link leads to. If PATH exists and is not
// a regular file, such as /dev/null or a pipe, it is opened itself; /dev/stdout and /dev/fd/N are
// written where they are. End with agg_file_commit or
// agg_file_abandon.
agg_err agg_file_create(agg_file *file, agg_error *error, const char *path) SHOAL_MUST_CHECK;

// As agg_file_create, with mode 0600 whatever the umask, from the first moment on.
agg_err agg_file_create_private(agg_file *file, agg_error *error,
                                const char *path) SHOAL_MUST_CHECK;

// Tells the file system how many bytes will be written, so that it allocates them at once and not
// page by page. The call is only a hint.
void agg_file_expect(agg_file *file, uint64_t size);

// Asks the system to begin writing bytes of a stream to the disk, without waiting. It leaves
// agg_file_commit less to wait for; only agg_file_commit tells whether the bytes were written. It
// does nothing for pipes and devices.
//   first, len: bytes of the file
void agg_file_begin_sync(FILE *stream, uint64_t first, uint64_t len);

// Flushes and syncs the file, and renames it to its path. The file is released either way.
// Returns: AGG_ERR_IO if any of that fails; the path is then as it was.
agg_err agg_file_commit(agg_file *file, agg_error *error) SHOAL_MUST_CHECK;

// Removes the temporary file and releases everything.
void agg_file_abandon(agg_file *file);

#endif
