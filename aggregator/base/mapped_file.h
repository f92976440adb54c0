// SPDX-License-Identifier: Apache-2.0
// Files as memory: their bytes are read where the kernel has them, without copying.
//
// A file that another program cuts short meanwhile, or whose disk fails, ends the program with
// SIGBUS; nothing was written then.
#ifndef MAPPED_FILE_H
#define MAPPED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct agg_mapped_file {
    const uint8_t *bytes;
    size_t len;
} agg_mapped_file;

// Maps a whole file for reading it from front to back.
// Returns: whether it is mapped; pipes, empty files, and all files where the system cannot do it
// (WASI) are not.
bool agg_mapped_file_open(agg_mapped_file *file, FILE *stream);

// Lets go of whole pages of bytes [first, last), so that not all of the file is in this process's
// memory at once. They may be read still, anew. Threads may do so at the same time. Does nothing
// where nothing is mapped.
void agg_mapped_file_drop(const agg_mapped_file *file, size_t first, size_t last);
void agg_mapped_file_close(agg_mapped_file *file);

#endif
