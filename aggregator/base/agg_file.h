// SPDX-License-Identifier: Apache-2.0
// Whole files in, whole files out. What is written appears under its name only when it is complete
// and on the disk.
#ifndef AGG_FILE_H
#define AGG_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "agg_error.h"

typedef struct agg_bytes {
    uint8_t *data; // NUL-terminated beyond `len`, for parsers that want it
    size_t len;
} agg_bytes;

// Reads a whole file of at most `max` bytes; "-" is standard input. Release with free(bytes->data).
agg_err agg_file_read(agg_bytes *bytes, agg_error *error, const char *path,
                      size_t max) SHOAL_MUST_CHECK;

// Opens "PATH.tmp-<pid>" for writing; agg_file_commit flushes, syncs and renames it to PATH,
// agg_file_abandon removes it. A PATH that is there and no file, such as /dev/null or a pipe, is
// written to as it is.
typedef struct agg_file {
    FILE *stream;
    char *path, *temporary;
} agg_file;
agg_err agg_file_create(agg_file *file, agg_error *error, const char *path) SHOAL_MUST_CHECK;

// Tells the file system how many bytes will be written: it finds their place at once, not with
// every page. What it says is not needed.
void agg_file_expect(agg_file *file, uint64_t size);

// Asks the system to begin writing bytes of a stream to the disk, without waiting: less is then
// left for agg_file_commit to wait for, which alone tells whether it went well. Does nothing for
// what is no file.
void agg_file_begin_sync(FILE *stream, uint64_t first, uint64_t len);

agg_err agg_file_commit(agg_file *file, agg_error *error) SHOAL_MUST_CHECK;
void agg_file_abandon(agg_file *file);

#endif
