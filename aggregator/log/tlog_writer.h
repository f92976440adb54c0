// SPDX-License-Identifier: Apache-2.0
// Appends to a log in a folder: one writer at a time, and nothing is ever taken back.
//
// An append writes, in this order: `pending` with the new entries, `index`, the tiles,
// `checkpoint`, `keys`; then it removes `pending`. Devices see the new entries when `checkpoint` is
// replaced. A writer that finds `pending` finishes that append first, so that a tile never gets
// other bytes than those that somebody may have fetched.
#ifndef TLOG_WRITER_H
#define TLOG_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"
#include "file_lock.h"
#include "tlog_entry.h"
#include "tlog_log.h"
#include "tlog_note.h"

typedef struct agg_tlog_writer {
    const char *folder;
    const char *pem; // the log's private key
    size_t pem_len;
    agg_file_lock lock;
    agg_tlog_key key;
    agg_tlog log;
    uint64_t written;   // entries under the head in the folder
    uint64_t repaired;  // entries of an append that was cut short, which opening finished
    struct cJSON *rows; // of `index`
} agg_tlog_writer;

// Makes an empty log in a folder.
//   key: written: the public half
// Returns: SHOAL_ERR_DUPLICATE if the folder has a log.
agg_err agg_tlog_create(agg_tlog_key *key, agg_error *error, const char *folder, const char *name,
                        const char *pem, size_t pem_len) SHOAL_MUST_CHECK;

// Opens a log to append to it: takes the lock, checks the whole log, finishes an append that was
// cut short. Close it in any case.
//   folder, pem: live as long as the writer
agg_err agg_tlog_writer_open(agg_tlog_writer *w, agg_error *error, const char *folder,
                             const char *pem, size_t pem_len) SHOAL_MUST_CHECK;

// Adds a recipe or a query, unless the log has it, and its row in `index`.
//   until: its last day, UTC days since 1970
//   index: written: its place
//   is_new: written: whether it was not there before
agg_err agg_tlog_writer_add(agg_tlog_writer *w, uint64_t *index, bool *is_new, agg_error *error,
                            agg_tlog_type type, const uint8_t hash[32],
                            uint32_t until) SHOAL_MUST_CHECK;

// Returns: whether a key list is the newest one of the log.
bool agg_tlog_writer_is_newest(const agg_tlog_writer *w, const agg_tlog_entry *keys);

// Adds a key list, unless it is the newest one. It must be in force today and follow the one before
// (agg_tlog_keys_follow).
//   today: UTC day
agg_err agg_tlog_writer_add_keys(agg_tlog_writer *w, uint64_t *index, bool *is_new,
                                 agg_error *error, const agg_tlog_entry *keys,
                                 uint32_t today) SHOAL_MUST_CHECK;

// Writes what was added, and signs the new head. All of it is on the disk when it returns.
//   today: UTC day: rows of `index` that expired before are dropped
agg_err agg_tlog_writer_commit(agg_tlog_writer *w, agg_error *error,
                               uint32_t today) SHOAL_MUST_CHECK;

void agg_tlog_writer_close(agg_tlog_writer *w);

#endif
