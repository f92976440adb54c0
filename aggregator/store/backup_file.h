// SPDX-License-Identifier: Apache-2.0
// The file of a backup: named pieces one after another, with a checksum over all of it. Only this
// room includes this header.
//
//     8 bytes   "shoalbk1"
//     8 bytes   seconds since 1970 at which the backup began
//     pieces    2 bytes length of the name, the name, 8 bytes length, the bytes
//     2 bytes   0: no piece follows
//     32 bytes  SHA-256 of everything before
//
// Numbers are little-endian.
#ifndef BACKUP_FILE_H
#define BACKUP_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "agg_error.h"
#include "sha256.h"

#define AGG_BACKUP_NAME_MAX 128 // with its NUL

typedef struct agg_backup_file {
    FILE *stream;
    const char *path; // for errors
    shoal_sha256 sha; // over what was written or read so far
} agg_backup_file;

// ---- writing ----

// Makes the file anew with mode 0600; what an earlier, killed backup left under the name goes.
//   path: a name for work under way; outlives the file
agg_err agg_backup_create(agg_backup_file *file, agg_error *error, const char *path,
                          int64_t time_s) SHOAL_MUST_CHECK;

// Adds a piece that is read from a stream to its end.
//   len: of the stream
agg_err agg_backup_add(agg_backup_file *file, agg_error *error, const char *name, FILE *from,
                       uint64_t len) SHOAL_MUST_CHECK;

// Ends the file, syncs it and closes it.
agg_err agg_backup_finish(agg_backup_file *file, agg_error *error) SHOAL_MUST_CHECK;

// ---- reading ----

// Opens a file and compares its checksum, before anything of it is believed.
agg_err agg_backup_open(agg_backup_file *file, agg_error *error, const char *path,
                        int64_t *time_s) SHOAL_MUST_CHECK;

// Reads the head of the next piece.
//   name: "" at the end
agg_err agg_backup_next(agg_backup_file *file, agg_error *error, char name[AGG_BACKUP_NAME_MAX],
                        uint64_t *len) SHOAL_MUST_CHECK;

// Copies the bytes of the piece.
agg_err agg_backup_copy(agg_backup_file *file, agg_error *error, FILE *to,
                        uint64_t len) SHOAL_MUST_CHECK;

// Closes the file, whatever became of it. Closes nothing twice.
void agg_backup_close(agg_backup_file *file);

#endif
