// SPDX-License-Identifier: Apache-2.0
// A whole log, read and checked: its head, every entry, every tile.
//
// The folder of a log has `checkpoint`, the signed head; the tiles and bundles of tlog_tile.h;
// `keys`, {"index":N,"entry":ENTRY} of the newest key list; and `index`, {"entries":[{"type":TYPE,
// "hash":HEX,"index":N,"until":DAY}]} of the recipes and queries that are not expired. Devices look
// into the last two to find an entry, and believe only what the head proves.
#ifndef TLOG_LOG_H
#define TLOG_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"
#include "agg_file.h"
#include "tlog_entry.h"
#include "tlog_note.h"
#include "tlog_tree.h"

#define AGG_TLOG_INDEX_MAX ((size_t)1 << 20) // bytes of `index`; a device takes no more
#define AGG_TLOG_KEYS_MAX ((size_t)AGG_TLOG_ENTRY_MAX + 64)

// What is wrong with a log. The names are those of the device's explain(), where it has them.
typedef enum agg_tlog_fault {
    AGG_TLOG_NONE,
    AGG_TLOG_MISSING,     // a file cannot be read
    AGG_TLOG_MALFORMED,   // a file has not the form that it should have
    AGG_TLOG_TRUNCATED,   // a tile or a bundle is cut off
    AGG_TLOG_SIGNATURE,   // the head is not signed by the log's key
    AGG_TLOG_TAMPERED,    // a tile, a bundle or the root does not fit the others
    AGG_TLOG_ROLLED_BACK, // the head is older than one that was seen
    AGG_TLOG_FORK,        // the head contradicts one that was seen
    AGG_TLOG_ENTRY,       // an entry has another form
    AGG_TLOG_SERIAL,      // a key list does not follow the one before
    AGG_TLOG_POINTER      // `keys` or `index` names another entry
} agg_tlog_fault;

// Returns: "none", "log-missing", "log-malformed" and so on.
const char *agg_tlog_fault_name(agg_tlog_fault fault);

// Where a log is read from: a folder, or a server.
typedef struct agg_tlog_source {
    void *context;
    // Reads one file of the log. Release with free(bytes->data).
    //   path: relative to the log's folder
    // Returns: an error, with `error` filled, where there is none, or where it is above `max`
    // bytes.
    agg_err (*read)(void *context, agg_bytes *bytes, agg_error *error, const char *path,
                    size_t max);
} agg_tlog_source;

typedef struct agg_tlog {
    agg_tlog_fault fault; // of the last call that failed; AGG_TLOG_NONE for other errors
    char note[AGG_TLOG_NOTE_MAX + 1];
    size_t note_len;
    agg_tlog_head head;
    agg_tlog_tree tree;
    uint8_t *pool; // the entries' bytes
    size_t pool_len, pool_cap;
    size_t *starts; // n + 1 offsets into the pool
    size_t starts_cap;
    uint64_t counts[3];   // entries of each type
    uint64_t keys_at;     // index of the newest key list, if counts[AGG_TLOG_KEYS] is not 0
    agg_tlog_entry *keys; // that list
    agg_tlog_entry *next; // scratch
} agg_tlog;

// Makes an empty log in memory. Release it in any case.
agg_err agg_tlog_init(agg_tlog *log, agg_error *error) SHOAL_MUST_CHECK;
void agg_tlog_release(agg_tlog *log);

// Reads a log into an empty one, and checks its signature, every entry, and every tile against the
// head.
//   key: NULL: the signature is not checked
// Returns: an error whose exit code is 3 where somebody else's log, or another one, is shown;
// `fault` says what is wrong.
agg_err agg_tlog_load(agg_tlog *log, agg_error *error, const agg_tlog_source *source,
                      const agg_tlog_key *key) SHOAL_MUST_CHECK;

// Checks that the log has everything that an earlier head had.
//   note: the signed head
//   key: as for agg_tlog_load
agg_err agg_tlog_follows(agg_tlog *log, agg_error *error, const char *note, size_t len,
                         const agg_tlog_key *key) SHOAL_MUST_CHECK;

// Checks that `keys` names the newest key list, and that every row of `index` names its entry.
agg_err agg_tlog_check_pointers(agg_tlog *log, agg_error *error,
                                const agg_tlog_source *source) SHOAL_MUST_CHECK;

// Appends an entry in memory.
//   bytes: not inside the log's own pool
agg_err agg_tlog_append(agg_tlog *log, agg_error *error, const uint8_t *bytes,
                        size_t len) SHOAL_MUST_CHECK;

// Returns: the bytes of an entry.
//   index: below log->tree.n[0]
const uint8_t *agg_tlog_at(const agg_tlog *log, uint64_t index, size_t *len);

// Finds an entry by its bytes. Returns: false if the log has none.
bool agg_tlog_find(uint64_t *index, const agg_tlog *log, const uint8_t *bytes, size_t len);

// Fills an error and the log's fault. Returns: the error's code.
agg_err agg_tlog_refuse(agg_tlog *log, agg_error *error, agg_tlog_fault fault, const char *format,
                        ...) AGG_PRINTF(4, 5);

#endif
