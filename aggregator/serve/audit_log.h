// SPDX-License-Identifier: Apache-2.0
// The audit log of `shoal serve`: who asked what, when, and how it was answered, one JSON line a
// question, in a hash chain (audit_chain.h).
//
// The log is a folder of files 000001.jsonl, 000002.jsonl, ... of mode 0600, which are only
// appended to. A thread writes the lines that wait together and syncs them, so that many questions
// share one sync. An answer leaves only after its line is on the disk. What cannot be logged is not
// answered.
//
// Privacy: a line holds names of readers and collections, days, the status, and the value that
// somebody asked for by its name. It never holds a token, an address, a count, or what was found.
#ifndef AUDIT_LOG_H
#define AUDIT_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"

#define AGG_AUDIT_TEXT_MAX 72      // with its NUL; longer texts of a request are cut
#define AGG_AUDIT_BLOCKS_MAX 160   // with its NUL
#define AGG_AUDIT_ROTATE_MIN 4096u // bytes
#define AGG_AUDIT_ROTATE_MAX (1u << 28)
#define AGG_AUDIT_FOLDER "audit" // in the store's folder, where the configuration names no other

typedef struct agg_audit_log agg_audit_log;

// One question. Empty texts and zeros are left out of the line.
typedef struct agg_audit_entry {
    const char *who;  // static, or lives as long as the log: a reader's name, "admin", "local"
    const char *via;  // static: "bearer", "session", "proxy", "local"
    const char *what; // static: "result", "page", "sum", "metrics", "sign-in", "sign-out", ...
    char collection[AGG_AUDIT_TEXT_MAX]; // as asked; "" for all
    char dictionary[AGG_AUDIT_TEXT_MAX]; // as asked; "" for the default
    char span[AGG_AUDIT_TEXT_MAX];       // as asked; "" for all
    char value[AGG_AUDIT_TEXT_MAX];      // the one that was asked for; "" for the dictionary's
    char blocks[AGG_AUDIT_BLOCKS_MAX];   // that the answer was made of
    size_t top;                          // rows asked for
    unsigned status;                     // of the answer
    // Called by the log's thread once the line is on the disk, or could not be written.
    void (*done)(void *context, bool is_written);
    void *context;
    struct agg_audit_entry *next; // private
} agg_audit_entry;

// Opens a log, or begins one, and checks its last file. A write that a kill cut off is noted in a
// line of its own. Only one process at a time can have a log open.
//   folder: made with mode 0700 if it is missing
//   rotate_bytes: AGG_AUDIT_ROTATE_MIN .. AGG_AUDIT_ROTATE_MAX; a file that is longer is followed
//   by a new one
// Returns: SHOAL_ERR_CHECKSUM if the last file's chain is broken; AGG_ERR_IO.
agg_err agg_audit_log_open(agg_audit_log **log, agg_error *error, const char *folder,
                           uint64_t rotate_bytes) SHOAL_MUST_CHECK;

// Writes one entry and syncs it, for commands that start no thread. `done` is not called.
agg_err agg_audit_log_append(agg_audit_log *log, agg_error *error,
                             const agg_audit_entry *entry) SHOAL_MUST_CHECK;

// Starts the thread that writes submitted entries.
agg_err agg_audit_log_start(agg_audit_log *log, agg_error *error) SHOAL_MUST_CHECK;

// Hands an entry over. The caller owns it until `done` is called, from the log's thread.
// Returns: false after agg_audit_log_stop; `done` is not called then.
bool agg_audit_log_submit(agg_audit_log *log, agg_audit_entry *entry);

// Counts a request that was refused because nobody known sent it. Such requests share a line, of
// which there is one a minute at most: strangers must not be able to fill the disk.
void agg_audit_log_count_stranger(agg_audit_log *log);

// Returns: the number of lines of the log. Whoever keeps it elsewhere can tell later whether lines
// at the end are missing.
uint64_t agg_audit_log_lines(agg_audit_log *log);

// Writes what waits and ends the thread. Later entries are refused. log may be NULL.
void agg_audit_log_stop(agg_audit_log *log);

// Frees the log. Call after agg_audit_log_stop where a thread was started. log may be NULL.
void agg_audit_log_close(agg_audit_log *log);

// Returns: the most bytes of memory that an open log takes, without its thread's stack.
uint64_t agg_audit_log_memory(void);

#endif
