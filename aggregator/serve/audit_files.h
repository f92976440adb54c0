// SPDX-License-Identifier: Apache-2.0
// The files of an audit log (audit_log.h): 000001.jsonl, 000002.jsonl, ... in a folder. They are
// only appended to, and a new one appears under its name with its first line complete.
#ifndef AUDIT_FILES_H
#define AUDIT_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"
#include "audit_chain.h"

typedef struct agg_audit_files {
    int folder, fd;  // descriptors of the folder and of the last file; -1: closed
    unsigned number; // of the last file
    uint64_t size;   // bytes of it that are synced
    bool is_open;    // its last line lacks its newline
    bool is_dirty;   // a failed write may have left more bytes than that
    // A write at its end that the last process could not finish; 0 bytes: none. The caller notes it
    // before anything else is appended.
    size_t tail_len;
    uint8_t tail_hash[32];
} agg_audit_files;

#define AGG_AUDIT_NO_FILES ((agg_audit_files){.folder = -1, .fd = -1})

// Opens the folder, made if it is missing, and its last file, begun if there is none. Checks the
// last file and writes its end to the chain.
// Returns: SHOAL_ERR_CHECKSUM if the file is broken; AGG_ERR_IO, also if another process has the
// folder open.
agg_err agg_audit_files_open(agg_audit_files *files, agg_error *error, agg_audit_chain *chain,
                             const char *folder, int64_t time_s) SHOAL_MUST_CHECK;

// Appends bytes to the last file and syncs them. On failure the file is cut back to where it was.
agg_err agg_audit_files_append(agg_audit_files *files, agg_error *error, const char *bytes,
                               size_t len) SHOAL_MUST_CHECK;

// Begins the next file. On failure the last one stays in use.
agg_err agg_audit_files_next(agg_audit_files *files, agg_error *error, agg_audit_chain *chain,
                             int64_t time_s) SHOAL_MUST_CHECK;

void agg_audit_files_close(agg_audit_files *files);

// Reads one file of a log whole. Release with free.
agg_err agg_audit_file_read(uint8_t **bytes, size_t *len, agg_error *error,
                            const char *path) SHOAL_MUST_CHECK;

// Finds the numbers of the first and of the last file in a folder; 0 where there is none.
agg_err agg_audit_files_range(unsigned *first, unsigned *last, agg_error *error,
                              const char *folder) SHOAL_MUST_CHECK;

// Writes the name of a file: "000001.jsonl".
#define AGG_AUDIT_NAME_MAX 24 // with its NUL
void agg_audit_file_name(char name[AGG_AUDIT_NAME_MAX], unsigned number);

#endif
