// SPDX-License-Identifier: Apache-2.0
// Maps files into memory, so that their bytes are read from the page cache without copying.
//
// If another program truncates the file meanwhile, or its disk fails, SIGBUS ends the program
// before it has written any output.
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

// Maps a whole file for sequential reading.
// Returns: whether the file is mapped. Pipes and empty files are not, and no file is under WASI or
// in a call of libshoal_aggregate.
bool agg_mapped_file_open(agg_mapped_file *file, FILE *stream);

// Gives back the memory of the whole pages in bytes [first, last), so that the process does not
// hold the whole file at once. The bytes can still be read, from the disk again. Several threads
// may call it at the same time. It does nothing if no file is mapped.
void agg_mapped_file_drop(const agg_mapped_file *file, size_t first, size_t last);
void agg_mapped_file_close(agg_mapped_file *file);

#endif
